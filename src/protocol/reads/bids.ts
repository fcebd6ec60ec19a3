// Bids as answers: /intents/:id/bids, those of the chain and those of the development helper, best first.
import { nullable } from "../../schema/json-schema.ts";
import { enumParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter, withOwner } from "../../schema/reads/list.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import {
  blockTimeAt,
  columnFields,
  computedField,
  defineDerivedRecord,
  isValidAt,
} from "../../schema/reads/record.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { bids, intents } from "../domains/intents.ts";

const STATUSES = ["open", "selected", "rejected", "expired"] as const;

// What can not be selected any more: its own time is over, or the intent's.
function expired(alias: SqlText, asOf: AsOf): SqlText {
  return sql`${alias}.valid_until <= ${blockTimeAt(asOf)} or i.deadline <= ${blockTimeAt(asOf)} or i.status <> 'OPEN'`;
}

// The chain's selection counts before the helper's; whichever it is, all others are rejected (D72).
const CHOSEN_OFFCHAIN = sql`(select min(c.bid_id) from offchain_bids c where c.intent_id = i.intent_id and c.status = 'SELECTED')`;

function chainBids(asOf: AsOf): SqlText {
  return sql`select b.intent_id || '-' || b.chain_bid_id as bid_id, b.chain_bid_id, b.intent_id, b.solver, b.amount_in, b.amount_out, b.fee, b.valid_until,
      jsonb_build_object('execution_hash', b.execution_hash) as execution_plan,
      case when b.chain_bid_id = i.selected_bid_id then 'SELECTED'
        when i.selected_bid_id is not null or ${CHOSEN_OFFCHAIN} is not null then 'REJECTED'
        when ${expired(sql`b`, asOf)} then 'EXPIRED' else 'OPEN' end as status,
      to_timestamp(k.timestamp) as created_at, 0 as origin, b.chain_bid_id as place, b.block_number, b.tx_hash, b.log_index
    from bids b join intents i on i.intent_id = b.intent_id and ${isValidAt("i", asOf)} join blocks k on k.number = b.block_number
    where ${isValidAt("b", asOf)}`;
}

// Rows of the helper belong to no block: they are what they are now, whichever block is looked at (D74).
function offchainBids(asOf: AsOf): SqlText {
  return sql`select o.bid_id::text, null::numeric, o.intent_id, o.solver, o.amount_in, o.amount_out, o.fee, o.valid_until, o.execution_plan,
      case when i.selected_bid_id is null and o.bid_id = ${CHOSEN_OFFCHAIN} then 'SELECTED'
        when i.selected_bid_id is not null or ${CHOSEN_OFFCHAIN} is not null or o.status = 'REJECTED' then 'REJECTED'
        when ${expired(sql`o`, asOf)} then 'EXPIRED' else 'OPEN' end,
      o.created_at, 1, o.bid_id::numeric, null::bigint, null::text, null::integer
    from offchain_bids o join intents i on i.intent_id = o.intent_id and ${isValidAt("i", asOf)}`;
}

const bid = defineDerivedRecord({
  name: "Bid",
  rows: (asOf) => sql`${chainBids(asOf)} union all ${offchainBids(asOf)}`,
  fields: {
    bid_id: computedField("t.bid_id", { type: "string" }),
    chain_bid_id: computedField("t.chain_bid_id", nullable({ type: "string" })),
    ...columnFields(bids, ["intent_id", "solver", "amount_in", "amount_out", "fee", "valid_until"]),
    // As it is stored, which may be packed: plans are short, and this is for bounding a page, not for measuring it.
    execution_plan: computedField("t.execution_plan", { type: "object" }, "pg_column_size(t.execution_plan)"),
    status: computedField("t.status", { type: "string", enum: STATUSES.map((word) => word.toUpperCase()) }),
    created_at: computedField("iso_time(t.created_at)", { type: "string", format: "date-time" }),
  },
});

// Most out, then least in, then least fee, then who came first.
const BEST_FIRST = [
  "-t.amount_out",
  "t.amount_in",
  "t.fee",
  "(extract(epoch from t.created_at) * 1000000)::bigint",
  "t.origin",
  "t.place",
].map((expression) => ({ sql: expression, cast: "numeric" }));

const listBids: Read = {
  ...withOwner(
    {
      table: intents,
      column: "intent_id",
      parameter: "id",
      notFoundMessage: "There is no intent with this id.",
    },
    defineList("/intents/:id/bids", bid, {
      operationId: "listBids",
      summary: "The bids on an intent, best first",
      tag: "Bids",
      key: "bids",
      order: { direction: "asc", keys: BEST_FIRST },
      pathFilters: { id: equalsFilter("intent_id", uintParameter(), "Which intent.") },
      filters: {
        status: {
          kind: enumParameter(STATUSES),
          description: "Only bids in this state, in any case.",
          where: (value) => sql`t.status = ${String(value).toUpperCase()}`,
        },
      },
    }),
  ),
  writableTables: ["offchain_bids"],
};

export const bidReads = [listBids];
