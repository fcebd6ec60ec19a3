// Reads: GET /totals, how much there is and how much came in each of the last hours or days; and GET /head.
import { closedObject, eachKey, nullable, type TypeOf, titledRecord } from "../../schema/json-schema.ts";
import { enumParameter, queryParameter } from "../../schema/parameter.ts";
import {
  type AsOf,
  type AtBlock,
  defineIndexRead,
  type ResultRows,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { blockTimeAt, isValidAt, timeAt } from "../../schema/reads/record.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { listValueColumns } from "../../schema/table.ts";
import { activityHours } from "../domains/activity.ts";

const HOUR_SECONDS = 3_600;

/** Interval in hours, and how many of them the series has: two days, or a month. */
export const INTERVALS = { hour: { hours: 1, count: 48 }, day: { hours: 24, count: 30 } } as const;
export type Interval = keyof typeof INTERVALS;
export const INTERVAL_NAMES = Object.keys(INTERVALS) as readonly Interval[];

export const intervalParameter = queryParameter(
  "interval",
  enumParameter(INTERVAL_NAMES),
  "Length of the intervals, in UTC: hour, or day (default).",
  "day",
);

/** The keys of the totals in order, each from the totals of the protocol, of commerce, or from the open intents. */
const TOTALS = {
  agents: "p.agents",
  accounts: "p.accounts",
  intents: "p.intents",
  open_intents: "o.intents",
  filled_intents: "p.fills",
  cancelled_intents: "p.cancelled_intents",
  expired_intents: "p.intents - p.fills - p.cancelled_intents - o.intents",
  bids: "p.bids",
  fills: "p.fills",
  solvers: "p.solvers",
  attestors: "p.attestors",
  attestations: "p.attestations",
  merchants: "c.merchants",
  services: "c.services",
  facilitators: "c.facilitators",
  quotes: "c.quotes",
  receipts: "c.receipts",
  disputes: "c.disputes",
  open_disputes: "c.open_disputes",
  trust_signals: "p.trust_signals",
};

const COUNTED = listValueColumns(activityHours);

/**
 * Open intents by the hour of their deadline, after this hour; those of this hour one by one, because some of them are
 * expired. Deadlines never change, so that the index of current rows finds the latter at an earlier block too.
 */
function openIntentsAt(asOf: AsOf): SqlText {
  const later = sql`select coalesce(sum(o.intents), 0) from open_intents o where o.hour > now.time / ${rawSql(String(HOUR_SECONDS))} and ${isValidAt("o", asOf)}`;
  const statuses = asOf === null ? "'OPEN'" : "'OPEN', 'FILLED', 'CANCELLED'";
  const soon = sql`from intents c where c.valid_to is null and c.status in (${rawSql(statuses)}) and c.deadline > now.time
    and c.deadline < (now.time / ${rawSql(String(HOUR_SECONDS))} + 1) * ${rawSql(String(HOUR_SECONDS))}`;
  if (asOf === null) return sql`select (${later}) + (select count(*) ${soon}) as intents`;
  // The limit keeps the planner from joining by reading all intents.
  const then = sql`select o.status from intents o where o.intent_id = c.intent_id and ${isValidAt("o", asOf)} limit 1`;
  return sql`select (${later}) + (select count(*) from (select c.intent_id ${soon}) c cross join lateral (${then}) o where o.status = 'OPEN') as intents`;
}

function seriesAt(asOf: AsOf, { hours, count }: { hours: number; count: number }): SqlText {
  const start = `hour / ${hours} * ${hours}`;
  const sums = COUNTED.map((column) => `sum(a.${column}) as ${column}`).join(", ");
  const first = `(now.time / ${HOUR_SECONDS * hours} - ${count - 1}) * ${hours}`;
  const grouped = sql`from (select ${rawSql(`a.${start}`)} as start, ${rawSql(sums)} from activity_hours a
    where a.hour >= ${rawSql(first)} and a.hour <= now.time / ${rawSql(String(HOUR_SECONDS))} and ${isValidAt("a", asOf)} group by 1) s`;
  return packRows(
    [`s.start * ${HOUR_SECONDS}`, ...COUNTED.map((column) => `s.${column}`)],
    grouped,
    "s.start",
  );
}

function statement(asOf: AsOf, interval: Interval): SqlText {
  const pairs = Object.entries(TOTALS).map(([key, value]) => `'${key}', coalesce(${value}, 0)::text`);
  return sql`select json_build_object(${rawSql(pairs.join(", "))}) as totals, now.time as time,
      ${seriesAt(asOf, INTERVALS[interval])} as series
    from (select ${timeAt(asOf)} as time) now cross join lateral (${openIntentsAt(asOf)}) o
    left join protocol_totals p on p.scope = 'all' and ${isValidAt("p", asOf)}
    left join commerce_totals c on c.scope = 'all' and ${isValidAt("c", asOf)}`;
}

/** The starts of the last intervals, oldest first; the last one contains the time. */
function listStarts(time: string | null, hours: number, count: number): string[] {
  if (time === null) return [];
  const seconds = BigInt(HOUR_SECONDS * hours);
  const last = BigInt(time) / seconds;
  return Array.from({ length: count }, (_, index) => String((last - BigInt(count - 1 - index)) * seconds));
}

type Totals = TypeOf<typeof totalsSchema>;
type TotalsRow = Pick<Totals, "totals"> & { readonly time: string | null; readonly series: string | null };

const NOTHING = eachKey(COUNTED, "0");

function assemble(rows: ResultRows, interval: Interval): Totals | null {
  const record = toFirstRecord<TotalsRow>(rows);
  if (!record) return null;
  const { hours, count } = INTERVALS[interval];
  const found = new Map(unpackRecords(record.series, ["start", ...COUNTED]).map((row) => [row.start, row]));
  const series = listStarts(record.time, hours, count).map(
    (start) => found.get(start) ?? { start, ...NOTHING },
  );
  return { totals: record.totals, interval, series };
}

const COUNT = { type: "string", pattern: "^[0-9]+$" } as const;

export const totalsSchema = titledRecord("Totals", {
  totals: closedObject(eachKey(Object.keys(TOTALS) as (keyof typeof TOTALS)[], COUNT)),
  interval: { type: "string", enum: INTERVAL_NAMES },
  series: {
    type: "array",
    maxItems: INTERVALS.hour.count,
    items: closedObject({ start: COUNT, ...eachKey(COUNTED, COUNT) }),
  },
});

const totals = defineIndexRead({
  path: "/totals",
  operationId: "getTotals",
  summary: "Totals",
  description:
    "How many agents, intents, bids, receipts and other records there are, and how many came in each of the last 48 hours or 30 days; the running one is the last. Available from the finalized block on.",
  tag: "Index",
  parameters: [intervalParameter],
  provenance: false,
  recentOnly: true,
  responseSchema: totalsSchema,
  notFoundMessage: null,
  // Rows of earlier blocks have no index of their own.
  plan: ({ asOf, values: { interval = "day" } }) => ({
    sql: statement(asOf, interval),
    cost: asOf === null ? "quick" : "slow",
    assemble: (rows) => assemble(rows, interval),
  }),
});

function headStatement(asOf: AsOf): SqlText {
  const block = asOf === null ? sql`h.block_number` : sql`${asOf.block.toString()}::bigint`;
  // Blocks without events are deleted once they are final, so that either walk passes few of them.
  const previous = sql`select b.number from blocks b where b.number < ${block} and b.log_count > 0 order by b.number desc limit 1`;
  const next = sql`select b.number from blocks b where b.number > ${block} and b.log_count > 0 order by b.number limit 1`;
  return sql`select ${block} as block_number, ${blockTimeAt(asOf)} as block_timestamp, (${previous}) as previous_event_block,
      (${next}) as next_event_block, h.block_number as indexed_block, h.block_timestamp as indexed_timestamp,
      h.finalized_block as finalized_block, d.start_block as start_block`;
}

const BLOCK = { type: "string" } as const;

export const headSchema = titledRecord("Head", {
  block_number: BLOCK,
  block_timestamp: nullable(BLOCK),
  previous_event_block: nullable(BLOCK),
  next_event_block: nullable(BLOCK),
  indexed_block: BLOCK,
  indexed_timestamp: BLOCK,
  finalized_block: BLOCK,
  start_block: BLOCK,
});

const getHead = defineIndexRead({
  path: "/head",
  operationId: "getHead",
  summary: "Position of the index",
  description:
    "The latest indexed block, the newest final one and the first; and of the block that is read, its time and the nearest blocks before and after it with events of the protocol. An old block without events has the time of the last one before it with events.",
  tag: "Index",
  parameters: [],
  provenance: false,
  responseSchema: headSchema,
  notFoundMessage: null,
  plan: ({ asOf }) => ({ sql: headStatement(asOf), cost: "quick", assemble: toFirstRecord }),
});

export const totalReads = [totals];
export const headReads = [getHead];

// Every cell is a number, an address or a hash, or text that `packText` has encoded, so neither separator is ever part of
// one. Building JSON in the database took twice as long.
const CELL_END = ",";
const ROW_END = ";";

/** The rows of a `from` item as one text, by expressions over its aliases; null without rows. */
export function packRows(expressions: readonly string[], from: SqlText, order: string): SqlText {
  // concat_ws skips nulls, which would shift the columns.
  const cells = expressions.map((expression) => `coalesce((${expression})::text, '')`);
  return sql`(select string_agg(concat_ws('${rawSql(CELL_END)}', ${rawSql(cells.join(", "))}), '${rawSql(ROW_END)}' order by ${rawSql(order)}) ${from})`;
}

/** The cells of each row; an empty one is null. */
export function unpackRows(packed: unknown): (string | null)[][] {
  if (typeof packed !== "string") return [];
  return packed.split(ROW_END).map((row) => row.split(CELL_END).map((cell) => (cell === "" ? null : cell)));
}

/** The rows as records, if no cell is empty; `names` has the names of the cells in their order. */
export function unpackRecords<const Name extends string>(
  packed: unknown,
  names: readonly Name[],
): readonly Readonly<Record<Name, string>>[] {
  return unpackRows(packed).map(
    (cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]])) as Record<Name, string>,
  );
}

// Distinguishes empty text from none.
const TEXT_BEGIN = "=";

/** A cell of text that others chose, which may have our separators. */
export function packText(expression: string): string {
  return `'${TEXT_BEGIN}' || encode(convert_to(${expression}, 'UTF8'), 'hex')`;
}

export function unpackText(cell: string): string {
  return Buffer.from(cell.slice(TEXT_BEGIN.length), "hex").toString("utf8");
}

export type Ranked = {
  readonly table: string;
  readonly key: readonly string[];
  /** The column to rank by; equals come by key, the highest first. */
  readonly by: string;
  readonly limit: number;
  /** The condition of the rows, by unqualified columns that an index begins with. */
  readonly where?: SqlText;
};

/**
 * Indexes are over the current rows; at an earlier block the largest are either among the largest current ones that are
 * older than it, or have changed since, which few have.
 */
export function selectLargest(ranked: Ranked, asOf: AsOf): SqlText {
  if (asOf === null) return selectUnchanged(ranked, asOf);
  const both = sql`(${selectUnchanged(ranked, asOf)}) union all (${selectChanged(ranked, asOf)})`;
  return sql`select * from (${both}) held ${orderRows(ranked)}`;
}

/** The largest current rows that are as old as the block. */
export function selectUnchanged(ranked: Ranked, asOf: AsOf): SqlText {
  const old = asOf === null ? sql`` : sql` and valid_from <= ${asOf.block.toString()}`;
  return sql`select * from ${rawSql(ranked.table)} where valid_to is null${old} and ${ranked.where ?? sql`true`} ${orderRows(ranked)}`;
}

/** The rows that have changed since the block, as they were. */
export function selectChanged({ table, key, where }: Ranked, { block: at }: AtBlock): SqlText {
  const block = at.toString();
  const keys = (alias: string) => rawSql(key.map((name) => `${alias}.${name}`).join(", "));
  return sql`select o.* from ${rawSql(table)} o where (${keys("o")}) in (select ${keys("n")} from ${rawSql(table)} n where n.valid_from > ${block})
    and o.valid_from <= ${block} and o.valid_to > ${block} and ${where ?? sql`true`}`;
}

export function orderRows({ by, key, limit }: Ranked): SqlText {
  const order = [by, ...key].map((column) => `${column} desc`).join(", ");
  return sql`order by ${rawSql(order)} limit ${rawSql(String(limit))}`;
}
