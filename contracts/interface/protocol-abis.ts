// The interface of every contract whose events make up the protocol's history.
import type { Abi } from "viem";
import type { ProtocolContract } from "../deploy/deployment.ts";
import { agentRegistryAbi } from "../generated/agent-registry.ts";
import { attestationRegistryAbi } from "../generated/attestation-registry.ts";
import { attestorRegistryAbi } from "../generated/attestor-registry.ts";
import { commerceRegistryAbi } from "../generated/commerce-registry.ts";
import { intentBookAbi } from "../generated/intent-book.ts";
import { policyAccountAbi } from "../generated/policy-account.ts";
import { policyModuleAbi } from "../generated/policy-module.ts";
import { settlementAdapterAbi } from "../generated/settlement-adapter.ts";
import { solverRegistryAbi } from "../generated/solver-registry.ts";

/** Policy accounts are many and stand at no known address. */
export type EventSource = ProtocolContract | "PolicyAccount";

export const PROTOCOL_ABIS: Readonly<Record<EventSource, Abi>> = {
  AgentRegistry: agentRegistryAbi,
  IntentBook: intentBookAbi,
  PolicyModule: policyModuleAbi,
  PolicyAccount: policyAccountAbi,
  AttestationRegistry: attestationRegistryAbi,
  SolverRegistry: solverRegistryAbi,
  AttestorRegistry: attestorRegistryAbi,
  CommerceRegistry: commerceRegistryAbi,
  SettlementAdapter: settlementAdapterAbi,
};

/** Events that an interface declares and no transaction can cause, each with the reason. */
export const NEVER_EMITTED: Readonly<Record<string, string>> = {
  "IntentBook.EIP712DomainChanged":
    "declared by ERC-5267, to be emitted when the signing domain changes; the book's name and version are fixed",
};
