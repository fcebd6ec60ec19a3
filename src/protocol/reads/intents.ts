// Intents as answers: /intents/:id and /intents, with their fill, and expired where time has passed.

import { closedObject, nullable } from "../../schema/json-schema.ts";
import { enumParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, type PageRequest } from "../../schema/reads/list.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import {
  blockTimeAt,
  columnFields,
  computedField,
  defineRecord,
  defineRecordRead,
} from "../../schema/reads/record.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { fills, intents } from "../domains/intents.ts";

const FILL = closedObject({
  solver: { type: "string" },
  amount_in: { type: "string" },
  amount_out: { type: "string" },
  tx_hash: { type: "string" },
  block_number: { type: "string" },
});

const STATUSES = ["OPEN", "FILLED", "CANCELLED", "EXPIRED"];

const fields = {
  ...columnFields(intents, [
    "intent_id",
    "owner",
    "intent_type",
    "input_token",
    "output_token",
    "amount_in_max",
    "amount_out_min",
    "deadline",
  ]),
  slippage_bps: computedField("t.slippage_bps::text", { type: "string" }),
  ...columnFields(intents, ["nonce"]),
  status: {
    // The contract keeps such an intent open; nothing can be done with it any more.
    sql: (asOf: AsOf) =>
      sql`case when t.status = 'OPEN' and t.deadline <= ${blockTimeAt(asOf)} then 'EXPIRED' else t.status end`,
    json: { type: "string", enum: STATUSES },
  },
  ...columnFields(intents, ["block_number"]),
  fill: computedField(
    "case when f.intent_id is null then null else json_build_object('solver', f.solver, 'amount_in', f.amount_in::text, 'amount_out', f.amount_out::text, 'tx_hash', f.tx_hash, 'block_number', f.block_number::text) end",
    nullable(FILL),
  ),
};

const METADATA_KEYS = [
  "execution_target",
  "execution_data",
  "required_attestation_subject",
  "required_attestation_schema",
];

const METADATA = closedObject({
  intent_id: { type: "string" },
  ...Object.fromEntries(METADATA_KEYS.map((key) => [key, nullable({ type: "string" })])),
  created_at: { type: "string", format: "date-time" },
  updated_at: { type: "string", format: "date-time" },
});

// What its owner put, or reserved by the intent's hash before it was indexed.
const metadata = computedField(
  "metadata_of_intent(t.intent_id, t.intent_hash, t.owner, t.data_hash)",
  nullable(METADATA),
);

const joins = [{ table: fills, alias: "f", on: "f.intent_id = t.intent_id" }];

const intent = defineRecord({ name: "Intent", table: intents, joins, fields });
const intentWithMetadata = defineRecord({
  name: "IntentWithMetadata",
  table: intents,
  joins,
  fields: { ...fields, metadata },
});

const LIVE = sql`o.valid_to is null and o.status = 'OPEN' and o.deadline > h.block_timestamp`;
// So many ids are found by their deadline, and sorted, faster than a page is found by walking from the newest intent.
const FEW = 1_000;

/**
 * Where few intents are open in truth, most of those that were never closed have expired: the open ones are found by
 * their deadline. Where many are, a page of them is found by walking from the newest one, and to collect all of them
 * would cost more. Which it is, a count that stops early tells; only that branch is executed.
 */
function openNow({ rowCount: rows, after }: PageRequest): SqlText {
  const isFew = sql`(select count(*) from (select from intents o where ${LIVE} limit ${FEW + 1}) c) <= ${FEW}`;
  const beyond = after === null ? sql`true` : sql`o.intent_id < ${after[0] ?? ""}::numeric`;
  const few = sql`select o.intent_id from intents o where ${LIVE} and ${isFew}`;
  const newest = sql`select o.intent_id from intents o where ${LIVE} and not (${isFew}) and ${beyond} order by o.intent_id desc limit ${rows}`;
  return sql`t.intent_id = any(array((${few}) union all (${newest})))`;
}

type Condition = (asOf: AsOf, page: PageRequest) => SqlText;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  open: (asOf, page) =>
    asOf === null ? openNow(page) : sql`t.status = 'OPEN' and t.deadline > ${blockTimeAt(asOf)}`,
  expired: (asOf) => sql`t.status = 'OPEN' and t.deadline <= ${blockTimeAt(asOf)}`,
  filled: () => sql`t.status = 'FILLED'`,
  cancelled: () => sql`t.status = 'CANCELLED'`,
};

const getIntent: Read = {
  ...defineRecordRead("/intents/:id", intentWithMetadata, {
    operationId: "getIntent",
    summary: "One intent",
    tag: "Intents",
    parameter: "id",
    kind: uintParameter(),
    column: "intent_id",
    notFoundMessage: "There is no intent with this id.",
  }),
  writableTables: ["intent_metadata", "intent_reservations"],
};

export const intentReads = [
  getIntent,
  defineList("/intents", intent, {
    operationId: "listIntents",
    summary: "Intents, newest first",
    tag: "Intents",
    key: "intents",
    order: { direction: "desc", keys: [{ sql: "t.intent_id", cast: "numeric" }] },
    filters: {
      status: {
        kind: enumParameter(["open", "filled", "cancelled", "expired"]),
        description: "Only intents in this state, in any case.",
        // Walks from the newest intent past all that are live, and those may be most of them.
        isSlow: (value) => value === "expired",
        where: (value, asOf, page) => CONDITIONS[String(value)]?.(asOf, page) ?? sql`false`,
      },
    },
  }),
];
