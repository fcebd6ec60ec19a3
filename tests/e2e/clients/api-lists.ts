// The lists of the API that are read here, and what the plain model says they hold.
import type { PlainRow, ReadModel } from "../../reference-model/read-model.ts";

export type ListRecord = Readonly<Record<string, unknown>>;

export type ComparedList = {
  readonly path: string;
  /** Key of the records in the response. */
  readonly key: string;
  readonly id: string;
  readonly newestFirst: boolean;
  /** The fields of records that are compared, from the model at a block of that time. */
  expected(model: ReadModel, timestamp: bigint): readonly ListRecord[];
};

/** A list whose records are rows, field by field. */
function plain(
  path: string,
  table: string,
  id: string,
  fields: readonly string[],
  newestFirst = false,
): ComparedList {
  const key = path.slice(1).replaceAll("-", "_");
  const record = (row: PlainRow) =>
    Object.fromEntries([id, ...fields, "block_number"].map((field) => [field, row[field]]));
  return { path, key, id, newestFirst, expected: (model) => model.rows(table).map(record) };
}

const intents: ComparedList = {
  path: "/intents",
  key: "intents",
  id: "intent_id",
  newestFirst: true,
  expected(model, timestamp) {
    const fills = new Map(model.rows("fills").map((fill) => [fill.intent_id, fill]));
    return model.rows("intents").map((row) => {
      const expired = row.status === "OPEN" && BigInt(String(row.deadline)) <= timestamp;
      const fill = fills.get(row.intent_id ?? null);
      return {
        intent_id: row.intent_id,
        owner: row.owner,
        amount_in_max: row.amount_in_max,
        amount_out_min: row.amount_out_min,
        deadline: row.deadline,
        slippage_bps: String(row.slippage_bps),
        nonce: row.nonce,
        status: expired ? "EXPIRED" : row.status,
        block_number: row.block_number,
        fill: fill
          ? pickFields(fill, ["solver", "amount_in", "amount_out", "tx_hash", "block_number"])
          : null,
      };
    });
  },
};

const solvers: ComparedList = {
  path: "/solvers",
  key: "solvers",
  id: "solver_id",
  newestFirst: false,
  expected(model) {
    const fillsOf = (operator: unknown) =>
      model.rows("fills").filter(({ solver }) => solver === operator).length;
    return model.rows("solvers").map((row) => ({
      ...pickFields(row, ["solver_id", "operator", "metadata_uri", "capabilities_hash", "bond", "active"]),
      fills: String(fillsOf(row.operator)),
      block_number: row.block_number,
    }));
  },
};

export const COMPARED_LISTS: readonly ComparedList[] = [
  intents,
  solvers,
  plain("/attestations", "attestations", "attestation_id", [
    "attester",
    "schema_hash",
    "subject",
    "data_hash",
    "timestamp",
    "revoked",
  ]),
  plain("/attestors", "attestors", "attestor_id", ["operator", "metadata_uri", "schemas_hash", "active"]),
  plain("/merchants", "merchants", "merchant_id", [
    "owner",
    "payout_address",
    "metadata_uri",
    "metadata_hash",
    "active",
  ]),
  plain("/services", "services", "service_numeric_id", [
    "merchant_id",
    "service_id",
    "metadata_uri",
    "metadata_hash",
    "capability_hash",
    "active",
  ]),
  plain("/facilitators", "facilitators", "facilitator_id", [
    "facilitator",
    "metadata_uri",
    "metadata_hash",
    "active",
  ]),
  plain(
    "/receipts",
    "receipts",
    "receipt_id",
    ["quote_hash", "agent", "merchant_id", "service_numeric_id", "token", "amount", "fulfillment_hash"],
    true,
  ),
  plain("/disputes", "disputes", "dispute_id", ["receipt_id", "opener", "status", "resolution_hash"], true),
  plain(
    "/trust-signals",
    "trust_signals",
    "signal_id",
    ["subject_type", "subject_id", "kind", "reporter", "signal_hash"],
    true,
  ),
];

export function pickFields(record: ListRecord, fields: readonly string[]): ListRecord {
  return Object.fromEntries(fields.map((field) => [field, record[field]]));
}

/** The ids of a page in order; says what is wrong with them otherwise. */
export function findOrderError(list: ComparedList, records: readonly ListRecord[]): string | null {
  const ids = records.map((record) => BigInt(String(record[list.id])));
  const wrong = ids.findIndex((id, index) => {
    const before = ids[index - 1];
    return before !== undefined && (list.newestFirst ? id >= before : id <= before);
  });
  return wrong === -1 ? null : `${list.path} has ${ids[wrong]} after ${ids[wrong - 1]}`;
}

export function parseListRecords(list: ComparedList, text: string): readonly ListRecord[] {
  const records = (JSON.parse(text) as ListRecord)[list.key];
  if (!Array.isArray(records)) throw new Error(`${list.path} has no ${list.key}`);
  return records as readonly ListRecord[];
}
