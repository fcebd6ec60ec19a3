// Audits of agents, attestations, solvers and attestors against their registries, and of what attesters did.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { agents } from "../../protocol/domains/agents.ts";
import { attestations, attesterActivity } from "../../protocol/domains/attestations.ts";
import { attestors } from "../../protocol/domains/attestors.ts";
import { solvers } from "../../protocol/domains/solvers.ts";
import { createdBy, defineTableAudit, recountAudit, type TableAudit, viewCheck } from "./define-audit.ts";

const agentRegistry = { contract: "AgentRegistry", abi: agentRegistryAbi } as const;

const agentsAudit = defineTableAudit(agents, {
  ids: "agent_id",
  createdBy: [
    createdBy(agents, agentRegistry, "AgentRegistered", ({ args }) => ({
      agent_id: args.agentId,
      owner: args.owner,
    })),
  ],
  views: [
    viewCheck(agents, agentRegistry, "getAgent", {
      args: ({ agent_id }) => [agent_id],
      columns: {
        owner: ({ owner }) => owner,
        metadata_uri: ({ metadataURI }) => metadataURI,
        pubkey: ({ pubkey }) => pubkey,
        capabilities_hash: ({ capabilitiesHash }) => capabilitiesHash,
        revoked: ({ revoked }) => revoked,
      },
    }),
  ],
});

const attestationRegistry = { contract: "AttestationRegistry", abi: attestationRegistryAbi } as const;

const attestationsAudit = defineTableAudit(attestations, {
  ids: "attestation_id",
  createdBy: [
    createdBy(attestations, attestationRegistry, "AttestationSubmitted", ({ args }) => ({
      attestation_id: args.id,
    })),
  ],
  views: [
    viewCheck(attestations, attestationRegistry, "getAttestation", {
      args: ({ attestation_id }) => [attestation_id],
      columns: {
        attester: ({ attester }) => attester,
        schema_hash: ({ schema }) => schema,
        subject: ({ subject }) => subject,
        data_hash: ({ dataHash }) => dataHash,
        timestamp: ({ timestamp }) => timestamp,
        revoked: ({ revoked }) => revoked,
      },
    }),
  ],
});

const attesterActivityAudit = recountAudit(
  attesterActivity,
  [attestations],
  `select attester, count(*) as attestations, count(*) filter (where revoked) as revoked_attestations
   from attestations group by attester`,
);

const solverRegistry = { contract: "SolverRegistry", abi: solverRegistryAbi } as const;
const attestorRegistry = { contract: "AttestorRegistry", abi: attestorRegistryAbi } as const;

const solversAudit = defineTableAudit(solvers, {
  ids: "solver_id",
  createdBy: [
    createdBy(solvers, solverRegistry, "SolverRegistered", ({ args }) => ({
      solver_id: args.solverId,
      operator: args.operator,
    })),
  ],
  views: [
    viewCheck(solvers, solverRegistry, "getSolver", {
      args: ({ solver_id }) => [solver_id],
      columns: {
        operator: ({ operator }) => operator,
        metadata_uri: ({ metadataURI }) => metadataURI,
        capabilities_hash: ({ capabilitiesHash }) => capabilitiesHash,
        bond: ({ bond }) => bond,
        active: ({ active }) => active,
      },
    }),
  ],
});

const attestorsAudit = defineTableAudit(attestors, {
  ids: "attestor_id",
  createdBy: [
    createdBy(attestors, attestorRegistry, "AttestorRegistered", ({ args }) => ({
      attestor_id: args.attestorId,
      operator: args.operator,
    })),
  ],
  views: [
    viewCheck(attestors, attestorRegistry, "getAttestor", {
      args: ({ attestor_id }) => [attestor_id],
      columns: {
        operator: ({ operator }) => operator,
        metadata_uri: ({ metadataURI }) => metadataURI,
        schemas_hash: ({ schemasHash }) => schemasHash,
        active: ({ active }) => active,
      },
    }),
  ],
});

export const registryAudits: readonly TableAudit[] = [
  agentsAudit,
  attestationsAudit,
  attesterActivityAudit,
  solversAudit,
  attestorsAudit,
];
