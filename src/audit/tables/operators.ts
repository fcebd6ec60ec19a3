// Solvers and attestors must be what their registries say of them.
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { attestors } from "../../protocol/domains/attestors.ts";
import { solvers } from "../../protocol/domains/solvers.ts";
import { createdBy, defineTableAudit, viewCheck } from "./define-audit.ts";

const solverRegistry = { contract: "SolverRegistry", abi: solverRegistryAbi } as const;
const attestorRegistry = { contract: "AttestorRegistry", abi: attestorRegistryAbi } as const;

export const solversAudit = defineTableAudit(solvers, {
  ids: "solver_id",
  births: [
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

export const attestorsAudit = defineTableAudit(attestors, {
  ids: "attestor_id",
  births: [
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
