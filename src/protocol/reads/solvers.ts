// Solvers as answers: /solvers/:id and /solvers, with what their operators have filled.
import { nullable } from "../../schema/json-schema.ts";
import { addressParameter, boolParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, computedField, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { solverActivity } from "../domains/intents.ts";
import { solvers } from "../domains/solvers.ts";

const COUNT = { type: "string", pattern: "^[0-9]+$" };
const AVERAGE = nullable({ type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,6})?$" });

/** Rounded once to six decimals (D63). The long factor makes the division exact enough for that; plain it is not. */
const average = (sum: string) =>
  computedField(
    `trim_scale(round(${sum} * 1.000000000000000000000000 / nullif(a.fills, 0), 6))::text`,
    AVERAGE,
  );

const solver = defineRecord({
  name: "Solver",
  table: solvers,
  // By address: what an operator filled before it registered counts too.
  joins: [{ table: solverActivity, alias: "a", on: "a.solver = t.operator" }],
  fields: {
    ...columnFields(solvers, [
      "solver_id",
      "operator",
      "metadata_uri",
      "capabilities_hash",
      "bond",
      "active",
    ]),
    fills: computedField("coalesce(a.fills, 0)", COUNT),
    // A fill that fails reverts and leaves no trace: every fill there is has succeeded.
    successful_fills: computedField("coalesce(a.fills, 0)", COUNT),
    failed_fills: computedField("'0'", COUNT),
    avg_latency_blocks: average("a.latency_blocks_total"),
    avg_surplus_out: average("a.surplus_out_total"),
    ...columnFields(solvers, ["block_number"]),
  },
});

export const solverReads = [
  defineRecordRead("/solvers/:id", solver, {
    operationId: "getSolver",
    summary: "One solver",
    tag: "Solvers",
    parameter: "id",
    kind: uintParameter(),
    column: "solver_id",
    notFoundMessage: "There is no solver with this id.",
  }),
  defineList("/solvers", solver, {
    operationId: "listSolvers",
    summary: "Solvers, by id",
    tag: "Solvers",
    key: "solvers",
    order: { direction: "asc", keys: [{ sql: "t.solver_id", cast: "numeric" }] },
    filters: {
      active: equalsFilter("active", boolParameter, "Only those that are, or are not, active."),
      operator: immutableFilter(solvers, "operator", addressParameter, "Only those of this operator."),
    },
  }),
];
