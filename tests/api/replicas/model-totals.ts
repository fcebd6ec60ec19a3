// Totals, analytics and reputations of the API as the reference model counts them at a block.
import { type BlockState, compareIds } from "../../reference-model/chain-branches.ts";
import type { PlainRow } from "../../reference-model/read-model.ts";
import { ANALYTICS_SHAPE, ANALYTICS_SUMMARY_SHAPE } from "../record-shapes.ts";
import { isOpenIntent, toRecord } from "./model-records.ts";

type Plain = Readonly<Record<string, unknown>>;

const DAY_SECONDS = 86_400n;
const DAYS = 30;
const RANKED_MAX = 20;
const COMMERCE = ["merchants", "services", "facilitators", "quotes", "receipts", "disputes", "open_disputes"];
const PROTOCOL = ["agents", "accounts", "intents", "cancelled_intents", "bids", "fills", "solvers"];
const TRUST = ["attestors", "attestations", "trust_signals"];

const rowOf = (state: BlockState, table: string, key: unknown): PlainRow =>
  state.withTotals.has(table, key) ? state.withTotals.get(table, key) : {};

const countsOf = (row: PlainRow, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, String(row[name] ?? 0)]));

export const countTotals = {
  path: "/totals",
  expect: (state: BlockState): Plain => {
    const protocol = countsOf(rowOf(state, "protocol_totals", "all"), [...PROTOCOL, ...TRUST]);
    const commerce = countsOf(rowOf(state, "commerce_totals", "all"), COMMERCE);
    const { intents = "0", fills = "0", cancelled_intents = "0" } = protocol;
    const open = state.model.rows("intents").filter((row) => isOpenIntent(state, row)).length;
    const expired = BigInt(intents) - BigInt(fills) - BigInt(cancelled_intents) - BigInt(open);
    const derived = { open_intents: String(open), filled_intents: fills, expired_intents: String(expired) };
    return { totals: { ...protocol, ...commerce, ...derived }, interval: "day", series: listDays(state) };
  },
};

/** The amounts of each of the last days. */
function listDays(state: BlockState): readonly Plain[] {
  const hours = state.withTotals.rows("activity_hours");
  const names = Object.keys(hours[0] ?? {}).filter((name) => name !== "hour");
  const today = state.block.timestamp / DAY_SECONDS;
  return Array.from({ length: DAYS }, (_, index) => {
    const day = today - BigInt(DAYS - 1 - index);
    const own = hours.filter(({ hour }) => BigInt(String(hour)) / 24n === day);
    const sum = (name: string) => own.reduce((total, row) => total + BigInt(String(row[name])), 0n);
    return {
      start: String(day * DAY_SECONDS),
      ...Object.fromEntries(names.map((name) => [name, String(sum(name))])),
    };
  });
}

/** Table, key and what ranks it; the other columns of an element come from the row that the key names elsewhere. */
const RANKINGS: Readonly<Record<string, { table: string; key: string; by: string; joined?: string }>> = {
  volume_by_token: { table: "token_volumes", key: "token", by: "settled_volume" },
  top_merchants: {
    ...{ table: "merchant_records", key: "merchant_id", by: "settled_volume", joined: "merchants" },
  },
  top_services: {
    ...{ table: "service_volumes", key: "service_numeric_id", by: "settled_volume", joined: "services" },
  },
  facilitator_volume: { table: "facilitator_volumes", key: "facilitator", by: "settled_volume" },
  volume_by_payment_rail: { table: "rail_volumes", key: "payment_rail", by: "settled_volume" },
  trust_signals_by_kind: { table: "signal_counts", key: "kind", by: "signals" },
};

export const countCommerce = {
  path: "/analytics/commerce",
  expect: (state: BlockState): Plain => ({
    summary: countsOf(rowOf(state, "commerce_totals", "all"), Object.keys(ANALYTICS_SUMMARY_SHAPE)),
    ...Object.fromEntries(Object.keys(RANKINGS).map((name) => [name, rank(state, name)])),
  }),
};

function rank(state: BlockState, name: string): readonly Plain[] {
  const ranking = RANKINGS[name];
  if (!ranking) throw new Error(`no ranking is called ${name}`);
  const { table, key, by, joined } = ranking;
  const order = (a: PlainRow, b: PlainRow) =>
    compareIds(String(b[by]), String(a[by])) || compareIds(String(b[key]), String(a[key]));
  const largest = state.withTotals.rows(table).toSorted(order).slice(0, RANKED_MAX);
  return largest.map((row) => {
    const other: PlainRow = joined ? state.model.get(joined, BigInt(String(row[key]))) : {};
    const columns = Object.keys(ANALYTICS_SHAPE[name] ?? {});
    return Object.fromEntries(columns.map((column) => [column, row[column] ?? other[column]]));
  });
}

export function countReputation(id: string) {
  const expect = (state: BlockState): Plain | null => {
    const key = BigInt(id);
    if (!state.model.has("merchants", key)) return null;
    const done = rowOf(state, "merchant_records", key);
    const signals = state.model
      .rows("subject_signal_counts")
      .filter((row) => row.subject_type === 0 && row.subject_id === id)
      .toSorted(
        (a, b) => compareIds(String(b.signals), String(a.signals)) || Number(a.kind) - Number(b.kind),
      );
    return {
      merchant: toRecord(state, "merchants", state.model.get("merchants", key)),
      commerce: countsOf(done, ["receipts", "settled_volume", "fulfilled_receipts"]),
      disputes: countsOf(done, ["disputes", "open_disputes", "resolved_disputes", "rejected_disputes"]),
      trust_signals_by_kind: signals.map(({ kind, signals: count }) => ({ kind, signals: String(count) })),
    };
  };
  return { path: `/merchants/${id}/reputation`, expect };
}
