// What the owner of an intent signs: its EIP-712 types, struct hash and digest.
import { type Address, type Hex, hashStruct, hashTypedData } from "viem";

export const intentTypes = {
  Intent: [
    { name: "owner", type: "address" },
    { name: "intentType", type: "uint8" },
    { name: "constraints", type: "Constraints" },
    { name: "execution", type: "ExecutionRequirements" },
    { name: "inputToken", type: "address" },
    { name: "outputToken", type: "address" },
    { name: "nonce", type: "uint256" },
  ],
  Constraints: [
    { name: "amountInMax", type: "uint256" },
    { name: "amountOutMin", type: "uint256" },
    { name: "deadline", type: "uint256" },
    { name: "slippageBps", type: "uint16" },
  ],
  ExecutionRequirements: [
    { name: "target", type: "address" },
    { name: "dataHash", type: "bytes32" },
    { name: "requiredAttestationSubject", type: "bytes32" },
    { name: "requiredAttestationSchema", type: "bytes32" },
    { name: "metadataURIHash", type: "bytes32" },
  ],
} as const;

export type Intent = {
  readonly owner: Address;
  readonly intentType: number;
  readonly constraints: {
    readonly amountInMax: bigint;
    readonly amountOutMin: bigint;
    readonly deadline: bigint;
    readonly slippageBps: number;
  };
  readonly execution: {
    readonly target: Address;
    readonly dataHash: Hex;
    readonly requiredAttestationSubject: Hex;
    readonly requiredAttestationSchema: Hex;
    readonly metadataURIHash: Hex;
  };
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly nonce: bigint;
};

export type IntentDomain = {
  readonly name: "AgentIntentBook";
  readonly version: "1";
  readonly chainId: bigint;
  readonly verifyingContract: Address;
};

export function intentDomain(chainId: bigint, intentBook: Address): IntentDomain {
  return { name: "AgentIntentBook", version: "1", chainId, verifyingContract: intentBook };
}

export function intentStructHash(intent: Intent): Hex {
  return hashStruct({ types: intentTypes, primaryType: "Intent", data: intent });
}

export function intentDigest(intent: Intent, domain: IntentDomain): Hex {
  return hashTypedData({ domain, types: intentTypes, primaryType: "Intent", message: intent });
}
