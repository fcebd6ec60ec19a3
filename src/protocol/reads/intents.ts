// Reads: GET /intents, /intents/:id and /intents/:id/bids.
import { address, bytes32, uint256 } from "../../schema/column.ts";
import { closedObject, eachKey, type JsonSchema, nullable, type TypeOf } from "../../schema/json-schema.ts";
import {
  addressPairParameter,
  addressParameter,
  enumParameter,
  uintParameter,
} from "../../schema/parameter.ts";
import { defineList, equalsFilter, type ListRequest, withOwner } from "../../schema/reads/list.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import {
  columnFields,
  computedField,
  defineDerivedRecord,
  defineRecord,
  defineRecordRead,
  type Field,
  isValidAt,
  timeAt,
} from "../../schema/reads/record.ts";
import { equalsHex, type SqlText, sql } from "../../schema/sql.ts";
import { bids, fillProofs, fills, intents } from "../domains/intents.ts";

const FILL = closedObject({
  solver: { type: "string" },
  amount_in: { type: "string" },
  amount_out: { type: "string" },
  tx_hash: { type: "string" },
  block_number: { type: "string" },
});

const FILL_SQL =
  "'solver', hex_text(f.solver), 'amount_in', f.amount_in::text, 'amount_out', f.amount_out::text, 'tx_hash', hex_text(f.tx_hash), 'block_number', f.block_number::text";
const PROOF_SQL =
  "'result_hash', hex_text(fp.result_hash), 'trace_hash', hex_text(fp.trace_hash), 'attestation_id', fp.attestation_id::text";

function fillField<S extends JsonSchema>(properties: string, json: S): Field<TypeOf<S> | null> {
  return computedField(
    `case when f.intent_id is null then null else json_build_object(${properties}) end`,
    nullable(json),
  );
}

const WITH_REQUIREMENTS = { description: "With include=requirements." };

// As the specification shows it, and optionally what the solver proved.
const FILL_WITH_PROOF = closedObject(FILL.properties, {
  result_hash: { ...nullable(bytes32.json), ...WITH_REQUIREMENTS },
  trace_hash: { ...nullable(bytes32.json), ...WITH_REQUIREMENTS },
  attestation_id: { ...nullable(uint256.json), ...WITH_REQUIREMENTS },
});

const REQUIREMENTS = {
  execution_target: address.json,
  data_hash: bytes32.json,
  required_attestation_subject: bytes32.json,
  required_attestation_schema: bytes32.json,
  metadata_uri_hash: bytes32.json,
};

// The requirements that IntentBook checks at the fill, so that a solver needs no access to the chain.
const requirements = {
  fields: {
    fill: fillField(`${FILL_SQL}, ${PROOF_SQL}`, FILL_WITH_PROOF),
    requirements: computedField(
      `json_build_object(${Object.keys(REQUIREMENTS)
        .map((name) => `'${name}', hex_text(t.${name})`)
        .join(", ")})`,
      { ...closedObject(REQUIREMENTS), ...WITH_REQUIREMENTS },
    ),
  },
  joins: [{ table: fillProofs, alias: "fp", on: "fp.intent_id = t.intent_id" }],
};

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
  // The contract still stores such an intent as open, but it can no longer be filled.
  status: computedField(
    (asOf) =>
      sql`case when t.status = 'OPEN' and t.deadline <= ${timeAt(asOf)} then 'EXPIRED' else t.status end`,
    { type: "string", enum: ["OPEN", "FILLED", "CANCELLED", "EXPIRED"] },
  ),
  ...columnFields(intents, ["block_number"]),
  fill: fillField(FILL_SQL, FILL),
};

export const METADATA_KEYS = [
  "execution_target",
  "execution_data",
  "required_attestation_subject",
  "required_attestation_schema",
] as const;

const METADATA = closedObject({
  intent_id: { type: "string" },
  ...eachKey(METADATA_KEYS, nullable({ type: "string" })),
  created_at: { type: "string", format: "date-time" },
  updated_at: { type: "string", format: "date-time" },
});

// Metadata that the owner wrote, or reserved by the intent's hash before it was indexed.
const metadata = computedField(
  "metadata_of_intent(t.intent_id, hex_text(t.intent_hash), hex_text(t.owner), hex_text(t.data_hash))",
  nullable(METADATA),
);

const joins = [{ table: fills, alias: "f", on: "f.intent_id = t.intent_id" }];

export const intent = defineRecord({ name: "Intent", table: intents, joins, fields, requirements });
export const intentWithMetadata = defineRecord({
  name: "IntentWithMetadata",
  isProvable: true,
  table: intents,
  joins,
  fields: { ...fields, metadata },
  requirements,
});

const OPEN_NOW = sql`o.valid_to is null and o.status = 'OPEN' and o.deadline > h.block_timestamp`;
// Up to this many ids, finding them by deadline and sorting is faster than walking from the newest intent.
const FEW_OPEN_MAX = 1_000;

/**
 * If few intents are really open, most of those that were never closed have expired: find the open ones by their
 * deadline. If many are open, walking from the newest one finds a page, and collecting all of them would cost more. A
 * count that stops early decides; only that branch is executed.
 */
function openNow({ rowCount, after }: ListRequest): SqlText {
  const isFew = sql`(select count(*) from (select from intents o where ${OPEN_NOW} limit ${FEW_OPEN_MAX + 1}) c) <= ${FEW_OPEN_MAX}`;
  const beyond = after === null ? sql`true` : sql`o.intent_id < ${after[0] ?? ""}::numeric`;
  const few = sql`select o.intent_id from intents o where ${OPEN_NOW} and ${isFew}`;
  const newest = sql`select o.intent_id from intents o where ${OPEN_NOW} and not (${isFew}) and ${beyond} order by o.intent_id desc limit ${rowCount}`;
  return sql`t.intent_id = any(array((${few}) union all (${newest})))`;
}

type Condition = (asOf: AsOf, page: ListRequest) => SqlText;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  open: (asOf, page) =>
    asOf === null ? openNow(page) : sql`t.status = 'OPEN' and t.deadline > ${timeAt(asOf)}`,
  expired: (asOf) => sql`t.status = 'OPEN' and t.deadline <= ${timeAt(asOf)}`,
  filled: () => sql`t.status = 'FILLED'`,
  cancelled: () => sql`t.status = 'CANCELLED'`,
};

const getIntent: Read = {
  ...defineRecordRead("/intents/:id", intentWithMetadata, {
    operationId: "getIntent",
    summary: "One intent",
    description:
      "An intent with its state, its fill if there is one, and the execution metadata that its owner has stored.",
    tag: "Intents",
  }),
  writableTables: ["intent_metadata", "intent_reservations"],
  showsOwnWrites: true,
};

const BID_STATUSES = ["open", "selected", "rejected", "expired"] as const;

// Bids that can no longer be selected: the bid, or its intent, has expired or ended.
function expired(alias: SqlText, asOf: AsOf): SqlText {
  return sql`${alias}.valid_until <= ${timeAt(asOf)} or i.deadline <= ${timeAt(asOf)} or i.status <> 'OPEN'`;
}

// A selection on chain takes precedence over one off chain; either rejects all other bids.
const CHOSEN_OFFCHAIN = sql`(select min(c.bid_id) from offchain_bids c where c.intent_id = i.intent_id and c.status = 'SELECTED')`;

function chainBids(asOf: AsOf): SqlText {
  return sql`select b.intent_id || '-' || b.chain_bid_id as bid_id, b.chain_bid_id, b.intent_id, hex_text(b.solver) as solver, b.amount_in, b.amount_out, b.fee, b.valid_until,
      jsonb_build_object('execution_hash', hex_text(b.execution_hash)) as execution_plan,
      case when b.chain_bid_id = i.selected_bid_id then 'SELECTED'
        when i.selected_bid_id is not null or ${CHOSEN_OFFCHAIN} is not null then 'REJECTED'
        when ${expired(sql`b`, asOf)} then 'EXPIRED' else 'OPEN' end as status,
      to_timestamp(k.timestamp) as created_at, 0 as origin, b.chain_bid_id as place, b.block_number, hex_text(b.tx_hash) as tx_hash, b.log_index
    from bids b join intents i on i.intent_id = b.intent_id and ${isValidAt("i", asOf)} join blocks k on k.number = b.block_number
    where ${isValidAt("b", asOf)}`;
}

// Off-chain bids belong to no block: they are current at every block.
function offchainBids(asOf: AsOf): SqlText {
  return sql`select o.bid_id::text, null::numeric, o.intent_id, o.solver, o.amount_in, o.amount_out, o.fee, o.valid_until, o.execution_plan,
      case when i.selected_bid_id is null and o.bid_id = ${CHOSEN_OFFCHAIN} then 'SELECTED'
        when i.selected_bid_id is not null or ${CHOSEN_OFFCHAIN} is not null or o.status = 'REJECTED' then 'REJECTED'
        when ${expired(sql`o`, asOf)} then 'EXPIRED' else 'OPEN' end,
      o.created_at, 1, o.bid_id::numeric, null::bigint, null::text, null::integer
    from offchain_bids o join intents i on i.intent_id = o.intent_id and ${isValidAt("i", asOf)}`;
}

export const bid = defineDerivedRecord({
  name: "Bid",
  rows: (asOf) => sql`${chainBids(asOf)} union all ${offchainBids(asOf)}`,
  fields: {
    bid_id: computedField("t.bid_id", { type: "string" }),
    chain_bid_id: computedField("t.chain_bid_id", nullable({ type: "string" })),
    ...columnFields(bids, ["intent_id", "solver", "amount_in", "amount_out", "fee", "valid_until"]),
    // The stored size, which may be compressed: plans are short, and this only bounds a page.
    execution_plan: computedField("t.execution_plan", { type: "object" }, "pg_column_size(t.execution_plan)"),
    status: computedField("t.status", {
      type: "string",
      enum: BID_STATUSES.map((word) => word.toUpperCase()),
    }),
    created_at: computedField("iso_time(t.created_at)", { type: "string", format: "date-time" }),
  },
});

// Highest output, then lowest input, then lowest fee, then oldest.
const BEST_FIRST = [
  "-t.amount_out",
  "t.amount_in",
  "t.fee",
  "(extract(epoch from t.created_at) * 1000000)::bigint",
  "t.origin",
  "t.place",
].map((expression) => ({ sql: expression, cast: "numeric" as const }));

const listBids: Read = {
  ...withOwner(
    {
      table: intents,
      column: "intent_id",
      parameter: "id",
      notFoundMessage: "No intent has this id.",
    },
    defineList("/intents/:id/bids", bid, {
      operationId: "listBids",
      summary: "Bids on an intent, best first",
      description:
        "Bids from the chain and, in open write mode, offchain ones: the highest output first, then the lowest input and fee, then the oldest.",
      tag: "Bids",
      key: "bids",
      order: { direction: "asc", keys: BEST_FIRST },
      pathFilters: { id: equalsFilter("intent_id", uintParameter(), "Intent id.") },
      filters: {
        status: {
          kind: enumParameter(BID_STATUSES),
          description: "Filter by state; case-insensitive.",
          where: (value) => sql`t.status = ${String(value).toUpperCase()}`,
        },
      },
    }),
  ),
  writableTables: ["offchain_bids"],
};

export const intentReads = [
  getIntent,
  defineList("/intents", intent, {
    operationId: "listIntents",
    summary: "Intents, newest first",
    description:
      "All intents, or those in one state, of one owner, token pair or selected solver. An intent whose deadline has passed counts as expired, although the contract still stores it as open.",
    tag: "Intents",
    key: "intents",
    order: "desc",
    filters: {
      status: {
        kind: enumParameter(["open", "filled", "cancelled", "expired"]),
        description: "Filter by state; case-insensitive.",
        // Walks from the newest intent past all open ones, which may be most of them.
        isSlow: (value) => value === "expired",
        where: (value, asOf, page) => CONDITIONS[String(value)]?.(asOf, page) ?? sql`false`,
      },
      owner: equalsFilter("owner", addressParameter, "Filter by owner."),
      // One parameter for both tokens, so that one index finds the newest of a pair.
      pair: {
        kind: addressPairParameter,
        description: "Filter by input token and output token, with a dash between them.",
        where: (value) => {
          const [input = "", output = ""] = String(value).split("-");
          return sql`${equalsHex("t.input_token", input)} and ${equalsHex("t.output_token", output)}`;
        },
      },
      solver: equalsFilter(
        "selected_solver",
        addressParameter,
        "Filter by the solver whose bid is selected on chain, by its address.",
      ),
    },
  }),
  listBids,
];
