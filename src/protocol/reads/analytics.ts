// Reads: GET /analytics/commerce, from the rollups that the folds maintain; and the list of all analytics.
import { closedObject, type Schema, schemaOf, titledRecord } from "../../schema/json-schema.ts";
import {
  type AsOf,
  type Read,
  type ResultRow,
  type ResultRows,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { isValidAt } from "../../schema/reads/record.ts";
import { joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { listValueColumns } from "../../schema/table.ts";
import { commerceTotals } from "../domains/commerce-totals.ts";
import { countsSchema, selectCountsSql } from "./commerce.ts";
import { flows } from "./flows.ts";
import { packRows, packText, selectLargest, unpackRows, unpackText } from "./totals.ts";
import { volumes as volumesOverTime } from "./volumes.ts";

// Bounds the response.
const ROWS_MAX = 20;

const SUMMARY = listValueColumns(commerceTotals);

type Ranking = {
  /** The ranked table and its key. */
  readonly table: string;
  readonly key: string;
  readonly by: string;
  /** The table with the other columns of an element. */
  readonly join?: { readonly table: string; readonly on: string };
  /** The keys of an element: columns of `v` and of the joined `j`. */
  readonly keys: Readonly<Record<string, string>>;
};

const VOLUME = {
  receipts: "v.receipts",
  settled_volume: "v.settled_volume",
  protocol_fees: "v.protocol_fees",
};

const RANKINGS = {
  volume_by_token: {
    table: "token_volumes",
    key: "token",
    by: "settled_volume",
    keys: { token: "hex_text(v.token)", ...VOLUME },
  },
  top_merchants: {
    table: "merchant_records",
    key: "merchant_id",
    by: "settled_volume",
    join: { table: "merchants", on: "j.merchant_id = v.merchant_id" },
    keys: { merchant_id: "v.merchant_id", owner: "hex_text(j.owner)", ...VOLUME },
  },
  top_services: {
    table: "service_volumes",
    key: "service_numeric_id",
    by: "settled_volume",
    join: { table: "services", on: "j.service_numeric_id = v.service_numeric_id" },
    keys: {
      service_numeric_id: "v.service_numeric_id",
      service_id: packText("j.service_id"),
      merchant_id: "j.merchant_id",
      ...VOLUME,
    },
  },
  facilitator_volume: {
    table: "facilitator_volumes",
    key: "facilitator",
    by: "settled_volume",
    keys: { facilitator: "hex_text(v.facilitator)", ...VOLUME },
  },
  volume_by_payment_rail: {
    table: "rail_volumes",
    key: "payment_rail",
    by: "settled_volume",
    keys: { payment_rail: "v.payment_rail", ...VOLUME },
  },
  trust_signals_by_kind: {
    table: "signal_counts",
    key: "kind",
    by: "signals",
    keys: { kind: "v.kind", signals: "v.signals" },
  },
} satisfies Readonly<Record<string, Ranking>>;

const DECODERS: Readonly<Record<string, (cell: string) => string | number>> = {
  payment_rail: Number,
  kind: Number,
  service_id: unpackText,
};

function ranked(ranking: Ranking, asOf: AsOf): SqlText {
  const { table, key, by, join, keys } = ranking;
  const joining = join
    ? sql` left join ${rawSql(join.table)} j on ${rawSql(join.on)} and ${isValidAt("j", asOf)}`
    : sql``;
  const from = sql`from (${selectLargest({ table, key: [key], by, limit: ROWS_MAX }, asOf)}) v${joining}`;
  return packRows(Object.values(keys), from, `v.${by} desc, v.${key} desc`);
}

const LISTS = Object.entries(RANKINGS).map(([name, { keys }]) => ({
  name,
  shown: Object.keys(keys),
}));

function elementOf(cells: readonly (string | null)[], shown: readonly string[]): ResultRow {
  const element: Record<string, string | number | null> = {};
  for (const [index, key] of shown.entries()) {
    const cell = cells[index] ?? null;
    element[key] = cell === null ? null : (DECODERS[key]?.(cell) ?? cell);
  }
  return element;
}

function assemble(rows: ResultRows): ResultRow | null {
  const record = toFirstRecord(rows);
  if (!record) return null;
  const body: Record<string, unknown> = { summary: record.summary };
  for (const { name, shown } of LISTS)
    body[name] = unpackRows(record[name]).map((cells) => elementOf(cells, shown));
  return body;
}

function statement(asOf: AsOf): SqlText {
  const arrays = Object.entries(RANKINGS).map(
    ([shown, ranking]) => sql`${ranked(ranking, asOf)} as ${rawSql(shown)}`,
  );
  return sql`select ${selectCountsSql("c", SUMMARY)} as summary, ${joinSql(arrays, ", ")}
    from (select 1) always left join commerce_totals c on c.scope = 'all' and ${isValidAt("c", asOf)}`;
}

type Element<R extends Ranking> = {
  readonly [Key in keyof R["keys"]]: Key extends "payment_rail" | "kind" ? number : string;
};

function rankingSchema<R extends Ranking>({ keys }: R): Schema<readonly Element<R>[]> {
  const json = (key: string) => ({ type: DECODERS[key] === Number ? "integer" : "string" });
  const properties = Object.fromEntries(Object.keys(keys).map((key) => [key, json(key)]));
  return schemaOf({ type: "array", maxItems: ROWS_MAX, items: closedObject(properties) });
}

export const commerceSchema = titledRecord("CommerceAnalytics", {
  summary: countsSchema(SUMMARY),
  volume_by_token: rankingSchema(RANKINGS.volume_by_token),
  top_merchants: rankingSchema(RANKINGS.top_merchants),
  top_services: rankingSchema(RANKINGS.top_services),
  facilitator_volume: rankingSchema(RANKINGS.facilitator_volume),
  volume_by_payment_rail: rankingSchema(RANKINGS.volume_by_payment_rail),
  trust_signals_by_kind: rankingSchema(RANKINGS.trust_signals_by_kind),
});

const commerce: Read = {
  path: "/analytics/commerce",
  operationId: "getCommerceAnalytics",
  summary: "Commerce analytics",
  description:
    "Totals of commerce, and the largest tokens, merchants, services, facilitators and payment rails by settled volume. Volumes add units of all tokens; `volume_by_token` and `/analytics/volumes` do not. Available from the finalized block on.",
  tag: "Commerce",
  parameters: [],
  provenance: false,
  recentOnly: true,
  responseSchema: commerceSchema,
  notFoundMessage: null,
  // At an earlier block, the statement reads every row that has changed since.
  plan: ({ asOf }) => ({ sql: statement(asOf), cost: asOf === null ? "quick" : "slow", assemble }),
};

export const analyticsReads = [commerce, volumesOverTime, flows];
