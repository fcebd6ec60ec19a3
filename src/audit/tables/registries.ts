// Audits of agents, attestations, solvers and attestors against their registries, and of what attesters did.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import {
  agents,
  attestations,
  attesterActivity,
  attestors,
  solvers,
} from "../../protocol/domains/registries.ts";
import { defineTableAudit, recountAudit, type TableAudit } from "./define-audit.ts";

export const registryAudits: readonly TableAudit[] = [
  defineTableAudit(
    agents,
    { contract: "AgentRegistry", abi: agentRegistryAbi },
    {
      ids: "agent_id",
      createdBy: { AgentRegistered: ["agent_id", "owner"] },
      views: {
        getAgent: {
          args: ["agent_id"],
          columns: ["owner", "metadata_uri", "pubkey", "capabilities_hash", "revoked"],
        },
      },
    },
  ),
  defineTableAudit(
    attestations,
    { contract: "AttestationRegistry", abi: attestationRegistryAbi },
    {
      ids: "attestation_id",
      createdBy: { AttestationSubmitted: ({ args }) => ({ attestation_id: args.id }) },
      views: {
        getAttestation: {
          args: ["attestation_id"],
          columns: ["attester", "subject", "data_hash", "timestamp", "revoked"],
          computed: { schema_hash: ({ schema }) => schema },
        },
      },
    },
  ),
  recountAudit(
    attesterActivity,
    [attestations],
    `select attester, count(*) as attestations, count(*) filter (where revoked) as revoked_attestations
     from attestations group by attester`,
  ),
  defineTableAudit(
    solvers,
    { contract: "SolverRegistry", abi: solverRegistryAbi },
    {
      ids: "solver_id",
      createdBy: { SolverRegistered: ["solver_id", "operator"] },
      views: {
        getSolver: {
          args: ["solver_id"],
          columns: ["operator", "metadata_uri", "capabilities_hash", "bond", "active"],
        },
      },
    },
  ),
  defineTableAudit(
    attestors,
    { contract: "AttestorRegistry", abi: attestorRegistryAbi },
    {
      ids: "attestor_id",
      createdBy: { AttestorRegistered: ["attestor_id", "operator"] },
      views: {
        getAttestor: {
          args: ["attestor_id"],
          columns: ["operator", "metadata_uri", "schemas_hash", "active"],
        },
      },
    },
  ),
];
