// Offchain bids: development helpers that let a solver try the bid flow before it submits bids on chain.

import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { parseAddress } from "../../lib/hex.ts";
import { defineEndpoint, type Endpoint } from "../../schema/endpoint.ts";
import { type TypeOf, titledRecord } from "../../schema/json-schema.ts";
import { addressParameter, pathParameter, uintParameter } from "../../schema/parameter.ts";
import {
  countStoredBytes,
  type RecordStore,
  type StatementRunner,
  type WriteTransaction,
} from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { findIntentById, intentIdParameter } from "./intent-metadata.ts";

const amount = uintParameter().json;

const bidSchema = titledRecord("OffchainBid", {
  bid_id: { type: "string" },
  chain_bid_id: { type: "null" },
  intent_id: { type: "string" },
  solver: { type: "string" },
  amount_in: { type: "string" },
  amount_out: { type: "string" },
  fee: { type: "string" },
  valid_until: { type: "string" },
  execution_plan: { type: "object" },
  status: { type: "string", enum: ["OPEN", "SELECTED", "REJECTED", "EXPIRED"] },
  created_at: { type: "string", format: "date-time" },
});

// A plan has a handful of steps, and a page lists a hundred plans.
const BODY_BYTES_MAX = 16 * 1024;

const createRoute = {
  method: "POST",
  path: "/intents/:id/bids",
  operationId: "createOffchainBid",
  summary: "Create an offchain bid (development helper, open write mode only)",
  description:
    "Lets a solver try the bid flow before it bids on chain. In signed write mode the path responds 404.",
  tag: "Bids",
  parameters: [intentIdParameter],
  body: {
    type: "object",
    properties: {
      solver: addressParameter.json,
      amount_in: amount,
      amount_out: amount,
      fee: amount,
      valid_until: { ...amount, description: "Unix seconds." },
      execution_plan: { type: "object" },
    },
    required: ["solver", "amount_in", "amount_out", "valid_until"],
  },
  bodyBytesMax: BODY_BYTES_MAX,
  responses: { 201: bidSchema },
  errorStatuses: [409],
} as const satisfies Partial<Endpoint>;

const BIGINT_MAX = 2n ** 63n - 1n;

const selectRoute = {
  method: "POST",
  path: "/bids/:bidId/select",
  operationId: "selectOffchainBid",
  summary: "Select an offchain bid (development helper, open write mode only)",
  description:
    "Selects the bid and rejects all other offchain bids on the intent. In signed write mode the path responds 404.",
  tag: "Bids",
  parameters: [pathParameter("bidId", uintParameter(BIGINT_MAX), "Bid id (bid_id).")],
  body: null,
  responses: { 200: bidSchema },
  errorStatuses: [409],
} as const satisfies Partial<Endpoint>;

export function createOffchainBidEndpoints(store: RecordStore): readonly Endpoint[] {
  return [
    defineEndpoint({
      ...createRoute,
      async handle({ values, body, rawBody: bytes, client }) {
        const record = await store.write({ client, tables: ["offchain_bids"] }, (rows) =>
          insertBid(rows, values.id, body, countStoredBytes(bytes)),
        );
        return { status: 201, body: record };
      },
    }),
    defineEndpoint({
      ...selectRoute,
      async handle({ values, client }) {
        const change = { client, tables: ["offchain_bids"] } as const;
        return { status: 200, body: await store.write(change, (rows) => selectBid(rows, values.bidId)) };
      },
    }),
  ];
}

/** In signed mode these routes respond 404, not 405: no other method would work either. */
export function createDisabledBidEndpoints(): readonly Endpoint[] {
  const handle = async () => {
    throw new Fault(
      "NOT_FOUND",
      "Bids are created and selected on chain; offchain bids exist only in open write mode.",
    );
  };
  // Without a body schema, the 404 comes before any validation error.
  return [
    { ...createRoute, body: null, handle },
    { ...selectRoute, handle },
  ];
}

async function insertBid(
  rows: WriteTransaction,
  id: string,
  bid: TypeOf<typeof createRoute.body>,
  bytes: number,
): Promise<unknown> {
  const number = (key: "amount_in" | "amount_out" | "fee" | "valid_until", fallback?: string) =>
    parseUint(bid[key] ?? fallback, key).toString();
  const solver = parseAddress(bid.solver, "solver");
  const amounts = [
    number("amount_in"),
    number("amount_out"),
    number("fee", "0"),
    number("valid_until"),
  ] as const;
  if (!(await findIntentById(rows, id))) throw new Fault("NOT_FOUND", "No intent has this id.");
  await rows.charge(bytes);
  const [stored] = await rows.run<{ bid_id: string }>(
    sql`insert into offchain_bids (intent_id, solver, amount_in, amount_out, fee, valid_until, stored_bytes, execution_plan) values (${id}, ${solver}, ${amounts[0]}, ${amounts[1]}, ${amounts[2]}, ${amounts[3]}, ${bytes}, ${JSON.stringify(bid.execution_plan ?? {})}::jsonb) returning bid_id`,
  );
  return readBid(rows, stored?.bid_id ?? "");
}

async function selectBid(rows: StatementRunner, bidId: string): Promise<unknown> {
  // Lock the bids of the intent: a concurrent selection waits here and then sees this one's result.
  await rows.run(
    sql`select 1 from offchain_bids where intent_id = (select intent_id from offchain_bids where bid_id = ${bidId}) order by bid_id for update`,
  );
  const bid = await readBid(rows, bidId);
  if (bid.status !== "OPEN") throw new Fault("CONFLICT", `The bid is ${bid.status}, not OPEN.`);
  await rows.run(
    sql`update offchain_bids set status = 'REJECTED' where intent_id = ${bid.intent_id} and bid_id <> ${bidId}`,
  );
  await rows.run(sql`update offchain_bids set status = 'SELECTED' where bid_id = ${bidId}`);
  return readBid(rows, bidId);
}

type BidRecord = { readonly intent_id: string; readonly status: string };

/** The record as GET /intents/:id/bids shows it. A selection on chain or here, and expiry, close a bid. */
async function readBid(rows: StatementRunner, bidId: string): Promise<BidRecord> {
  const [bid] = await rows.run<BidRecord>(
    sql`select o.bid_id, null as chain_bid_id, o.intent_id, o.solver, o.amount_in, o.amount_out, o.fee, o.valid_until, o.execution_plan,
        case when i.selected_bid_id is null and o.status = 'SELECTED' then 'SELECTED'
          when i.selected_bid_id is not null or o.status = 'REJECTED' or exists (select 1 from offchain_bids c where c.intent_id = o.intent_id and c.status = 'SELECTED') then 'REJECTED'
          when i.status <> 'OPEN' or i.deadline <= h.block_timestamp or o.valid_until <= h.block_timestamp then 'EXPIRED' else 'OPEN' end as status,
        iso_time(o.created_at) as created_at
      from offchain_bids o join intents i on i.intent_id = o.intent_id and i.valid_to is null cross join checkpoint h
      where o.bid_id = ${bidId}`,
  );
  if (!bid) throw new Fault("NOT_FOUND", "No offchain bid has this id.");
  return bid;
}
