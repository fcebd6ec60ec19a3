// Solvers and their bonds. SolverRegistry → solvers.
import { solverRegistryAbi as abi } from "@sextant/contracts/generated/solver-registry";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { addressPart, amountPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable, ZERO_ADDRESS } from "../../schema/table.ts";
import { countActivity } from "./activity.ts";

export const solvers = defineTable(
  "solvers",
  {
    solver_id: uint256,
    operator: address,
    metadata_uri: unboundedText,
    capabilities_hash: bytes32,
    bond: uint256,
    active: bool,
  },
  {
    key: ["solver_id"],
    countsUp: true,
    index: [
      ["operator", "solver_id"],
      ["active", "solver_id"],
    ],
  },
);

export const solversDomain = defineDomain({
  contract: "SolverRegistry",
  abi,
  tables: [solvers],
  events: {
    SolverRegistered: {
      fold: ({ args, timestamp }) => [
        insert(solvers, {
          solver_id: args.solverId,
          operator: args.operator,
          metadata_uri: args.metadataURI,
          capabilities_hash: args.capabilitiesHash,
          bond: args.bond,
          active: true,
        }),
        ...countActivity(timestamp, { solvers: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Solver ${recordPart("solver", args.solverId)} registered by ${addressPart(args.operator)} with a bond of ${amountPart(args.bond, ZERO_ADDRESS)}`,
    },
    SolverUpdated: {
      fold: ({ args }) => [
        update(
          solvers,
          { solver_id: args.solverId },
          { metadata_uri: args.metadataURI, capabilities_hash: args.capabilitiesHash, active: args.active },
        ),
      ],
      explain: ({ args }) =>
        sentence`Solver ${recordPart("solver", args.solverId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
    SolverBondChanged: {
      fold: ({ args }) => [update(solvers, { solver_id: args.solverId }, { bond: args.bond })],
      explain: ({ args }) =>
        sentence`Bond of solver ${recordPart("solver", args.solverId)} is now ${amountPart(args.bond, ZERO_ADDRESS)}`,
    },
  },
});
