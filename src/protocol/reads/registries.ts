// Reads: GET /agents, /attestations, /solvers and /attestors, each as a list and by id, and the directory of agents.
import { nullable } from "../../schema/json-schema.ts";
import { addressParameter, boolParameter, hashParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter } from "../../schema/reads/list.ts";
import {
  columnFields,
  computedField,
  defineRecord,
  defineRecordRead,
  tableFields,
} from "../../schema/reads/record.ts";
import { solverActivity } from "../domains/intents.ts";
import { agents, attestations, attesterActivity, attestors, solvers } from "../domains/registries.ts";

export const agent = defineRecord({
  name: "Agent",
  isProvable: true,
  table: agents,
  fields: tableFields(agents),
});

export const agentReads = [
  defineRecordRead("/agents/:agentId", agent, {
    operationId: "getAgent",
    summary: "One agent",
    description:
      "An entry of AgentRegistry: who owns it, its metadata, public key and capabilities, and whether it is revoked.",
    tag: "Agents",
  }),
  defineList("/agents", agent, {
    operationId: "listAgents",
    summary: "Agents of an owner, by id",
    description: "Every agent that the address has registered, revoked ones included.",
    tag: "Agents",
    key: "agents",
    order: "asc",
    filters: { owner: equalsFilter("owner", addressParameter, "Owner address.", true) },
  }),
  defineList("/directory/agents", agent, {
    operationId: "listAgentDirectory",
    summary: "Agents of all owners, newest first",
    description: "Every registered agent, revoked ones included. Filters can be combined.",
    tag: "Agents",
    key: "agents",
    order: "desc",
    filters: {
      owner: equalsFilter("owner", addressParameter, "Filter by owner."),
      revoked: equalsFilter("revoked", boolParameter, "Filter by whether it is revoked."),
    },
  }),
];

export const attestation = defineRecord({
  name: "Attestation",
  isProvable: true,
  table: attestations,
  fields: tableFields(attestations),
});

const attestationReads = [
  defineRecordRead("/attestations/:id", attestation, {
    operationId: "getAttestation",
    summary: "One attestation",
    description:
      "Who attests what about which subject under which schema, and whether it is revoked. The attested data itself is off chain; the record has its hash.",
    tag: "Attestations",
  }),
  defineList("/attestations", attestation, {
    operationId: "listAttestations",
    summary: "Attestations, by id",
    description: "All attestations, revoked ones included. Filters can be combined.",
    tag: "Attestations",
    key: "attestations",
    order: "asc",
    filters: {
      schema: equalsFilter("schema_hash", hashParameter, "Filter by schema."),
      subject: equalsFilter("subject", hashParameter, "Filter by subject."),
      attester: equalsFilter("attester", addressParameter, "Filter by attester."),
    },
  }),
];

const COUNT = { type: "string", pattern: "^[0-9]+$" } as const;
const AVERAGE = nullable({ type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,6})?$" });

/** Rounded once to six decimals. The long factor makes the division exact enough for that. */
const ratio = (sum: string, count: string) =>
  computedField(
    `trim_scale(round(${sum} * 1.000000000000000000000000 / nullif(${count}, 0), 6))::text`,
    AVERAGE,
  );

export const solver = defineRecord({
  name: "Solver",
  isProvable: true,
  table: solvers,
  // Joined by address: fills of an operator before it registered count too.
  joins: [{ table: solverActivity, alias: "a", on: "a.solver = t.operator" }],
  fields: {
    ...tableFields(solvers, ["block_number"]),
    fills: computedField("coalesce(a.fills, 0)", COUNT),
    // A failing fill reverts without an event: every recorded fill succeeded.
    successful_fills: computedField("coalesce(a.fills, 0)", COUNT),
    failed_fills: computedField("'0'", COUNT),
    avg_latency_blocks: ratio("a.latency_blocks_total", "a.fills"),
    avg_surplus_out: ratio("a.surplus_out_total", "a.fills"),
    bids: computedField("coalesce(a.bids, 0)", COUNT),
    selected_bids: computedField("coalesce(a.selected_bids, 0)", COUNT),
    win_rate: ratio("a.selected_bids", "a.bids"),
    avg_latency_seconds: ratio("a.latency_seconds_total", "a.fills"),
    ...columnFields(solvers, ["block_number"]),
  },
});

const solverReads = [
  defineRecordRead("/solvers/:id", solver, {
    operationId: "getSolver",
    summary: "One solver",
    description:
      "An entry of SolverRegistry with its bond, and what its operator has bid, won and filled so far.",
    tag: "Solvers",
  }),
  defineList("/solvers", solver, {
    operationId: "listSolvers",
    summary: "Solvers, by id",
    description:
      "Registered solvers with the bids, wins and fills of their operators, by which a client can choose one.",
    tag: "Solvers",
    key: "solvers",
    order: "asc",
    filters: {
      active: equalsFilter("active", boolParameter, "Filter by active state."),
      operator: equalsFilter("operator", addressParameter, "Filter by operator."),
    },
  }),
];

export const attestor = defineRecord({
  name: "Attestor",
  isProvable: true,
  table: attestors,
  // Joined by address: attestations of an operator before it registered count too.
  joins: [{ table: attesterActivity, alias: "a", on: "a.attester = t.operator" }],
  fields: {
    ...tableFields(attestors, ["block_number"]),
    attestations: computedField("coalesce(a.attestations, 0)", COUNT),
    revoked_attestations: computedField("coalesce(a.revoked_attestations, 0)", COUNT),
    ...columnFields(attestors, ["block_number"]),
  },
});

const attestorReads = [
  defineRecordRead("/attestors/:id", attestor, {
    operationId: "getAttestor",
    summary: "One attestor",
    description: "An entry of AttestorRegistry, and how many attestations its operator has made and revoked.",
    tag: "Attestors",
  }),
  defineList("/attestors", attestor, {
    operationId: "listAttestors",
    summary: "Attestors, by id",
    description: "Registered attestors with the number of their attestations.",
    tag: "Attestors",
    key: "attestors",
    order: "asc",
    filters: {
      active: equalsFilter("active", boolParameter, "Filter by active state."),
      operator: equalsFilter("operator", addressParameter, "Filter by operator."),
    },
  }),
];

export const registryReads = [...attestationReads, ...solverReads, ...attestorReads];
