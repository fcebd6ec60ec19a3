// Reads: GET /analytics/volumes, settled volume, fees and receipts of each token by hour or day.
import { Fault } from "../../lib/fault.ts";
import { address } from "../../schema/column.ts";
import { closedObject, eachKey, nullable, type TypeOf, titledRecord } from "../../schema/json-schema.ts";
import {
  addressParameter,
  integerEnumParameter,
  queryParameter,
  uintParameter,
  type ValuesOf,
} from "../../schema/parameter.ts";
import {
  type AsOf,
  defineIndexRead,
  type ReadInput,
  type ResultRows,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { isValidAt, timeAt } from "../../schema/reads/record.ts";
import { joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { listValueColumns, ZERO_ADDRESS } from "../../schema/table.ts";
import { volumeSeries } from "../domains/commerce-totals.ts";
import {
  INTERVAL_NAMES,
  INTERVALS,
  type Interval,
  intervalParameter,
  packRows,
  selectLargest,
  unpackRecords,
} from "./totals.ts";

// Bounds the response to some 300 kB: a year of days, or two weeks of hours, of the tokens with the most receipts.
const INTERVALS_MAX = 400;
const TOKENS_MAX = 5;
// Far beyond any block, and small enough for arithmetic of PostgreSQL's bigint.
const TIME_MAX = 2n ** 40n;
const VOLUME = listValueColumns(volumeSeries);

/** The parameters that narrow the receipts, and the dimension of their rows. */
const DIMENSIONS = [
  ["merchant_id", "merchant"],
  ["payment_rail", "rail"],
  ["facilitator", "facilitator"],
] as const;

type Query = ValuesOf<typeof parameters>;
type Subject = { readonly dimension: string; readonly value: string };

function readSubject(values: Query): Subject | null {
  const given = DIMENSIONS.flatMap(([name, dimension]) => {
    const value = values[name];
    return value === undefined ? [] : [{ dimension, value }];
  });
  if (given.length > 1) {
    const names = DIMENSIONS.map(([name]) => name).join(", ");
    throw new Fault("INPUT_INVALID", `Only one of ${names} can be given at a time.`);
  }
  // No rows are kept for it, and empty volumes would deny the receipts that there are.
  if (values.facilitator === ZERO_ADDRESS) {
    throw new Fault(
      "INPUT_INVALID",
      "facilitator must not be the zero address: volumes of receipts without a facilitator are not kept.",
    );
  }
  return given[0] ?? null;
}

/** The first and last interval, as expressions over the time of the block `now.time`. */
function readRange(values: Query, interval: Interval): { first: SqlText; last: SqlText } {
  const { hours, count } = INTERVALS[interval];
  const seconds = BigInt(hours) * 3_600n;
  const startOf = (value: string | undefined) =>
    value === undefined ? null : (BigInt(value) / seconds) * seconds;
  const [from, to] = [startOf(values.from), startOf(values.to)];
  if (from !== null && to !== null) checkRange(from, to, seconds);
  const time = (value: bigint) => sql`${rawSql(String(value))}::bigint`;
  const now = sql`now.time / ${time(seconds)} * ${time(seconds)}`;
  const last =
    to !== null
      ? time(to)
      : from === null
        ? now
        : sql`least(${now}, ${time(from + BigInt(INTERVALS_MAX - 1) * seconds)})`;
  const first = from !== null ? time(from) : sql`greatest(${last} - ${time(BigInt(count - 1) * seconds)}, 0)`;
  return { first, last };
}

function checkRange(from: bigint, to: bigint, seconds: bigint): void {
  if (from > to) throw new Fault("INPUT_INVALID", "from must not be later than to.");
  if ((to - from) / seconds >= BigInt(INTERVALS_MAX))
    throw new Fault("INPUT_INVALID", `from and to may be at most ${INTERVALS_MAX} intervals apart.`);
}

/** The given token, or those with the most receipts, of the merchant or else of all: units of tokens do not compare. */
function selectTokens(token: string | undefined, subject: Subject | null, asOf: AsOf): SqlText {
  if (token !== undefined) return sql`select stored_hex((null::token_volumes).token, ${token}) as token`;
  const ranked = { by: "receipts", key: ["token"], limit: TOKENS_MAX };
  if (subject?.dimension !== "merchant") return selectLargest({ ...ranked, table: "token_volumes" }, asOf);
  return selectLargest(
    {
      ...ranked,
      table: "merchant_flows",
      key: ["merchant_id", "token"],
      where: sql`merchant_id = ${subject.value}::numeric`,
    },
    asOf,
  );
}

function statement({ asOf, values }: ReadInput<Query>, interval: Interval): SqlText {
  const subject = readSubject(values);
  const { first, last } = readRange(values, interval);
  // Volumes of all receipts are the sum over the payment rails.
  const narrowed = subject
    ? sql`v.dimension = ${subject.dimension} and v.subject = ${subject.value}`
    : sql`v.dimension = 'rail' and v.subject = any(array(select c.payment_rail::text from rail_volumes c where c.valid_to is null))`;
  const sums = VOLUME.map((column) => `sum(v.${column}) as ${column}`).join(", ");
  const series = sql`select v.start, ${rawSql(sums)} from volume_series v where v.hours = ${rawSql(String(INTERVALS[interval].hours))} and ${narrowed}
    and v.token = t.token and v.start >= range.first and v.start <= range.last and ${isValidAt("v", asOf)} group by v.start`;
  const packed = packRows(
    ["s.start", "hex_text(t.token)", ...VOLUME.map((column) => `s.${column}`)],
    sql`from (${selectTokens(values.token, subject, asOf)}) t cross join lateral (${series}) s`,
    "s.start, t.token",
  );
  return sql`select range.first, range.last, ${packed} as volumes
    from (select ${joinSql([sql`${first} as first`, sql`${last} as last`], ", ")} from (select ${timeAt(asOf)} as time) now) range`;
}

type VolumesRow = Readonly<Record<"first" | "last" | "volumes", string | null>>;

function assemble(rows: ResultRows, interval: Interval): TypeOf<typeof volumesSchema> | null {
  const record = toFirstRecord<VolumesRow>(rows);
  if (!record) return null;
  const { first: from, last: to } = record;
  // Only the statement knows the time of the block, at which the intervals end.
  if (from !== null && to !== null && BigInt(from) > BigInt(to))
    throw new Fault("INPUT_INVALID", "from must not be later than the time of the block.");
  return { interval, from, to, volumes: unpackRecords(record.volumes, ["start", "token", ...VOLUME]) };
}

const AMOUNT = { type: "string", pattern: "^[0-9]+$" } as const;

export const volumesSchema = titledRecord("Volumes", {
  interval: { type: "string", enum: INTERVAL_NAMES },
  from: nullable({ type: "string", description: "Start of the first interval, in unix seconds." }),
  to: nullable({ type: "string", description: "Start of the last interval, in unix seconds." }),
  volumes: {
    type: "array",
    maxItems: INTERVALS_MAX * TOKENS_MAX,
    items: closedObject({ start: AMOUNT, token: address.json, ...eachKey(VOLUME, AMOUNT) }),
  },
});

const parameters = [
  intervalParameter,
  queryParameter("token", addressParameter, "Only this token."),
  queryParameter("merchant_id", uintParameter(), "Only receipts of this merchant."),
  queryParameter("payment_rail", integerEnumParameter([0, 1, 2, 3]), "Only receipts of this payment rail."),
  queryParameter(
    "facilitator",
    addressParameter,
    "Only receipts through this facilitator, which is not the zero address.",
  ),
  queryParameter(
    "from",
    uintParameter(TIME_MAX),
    `Unix seconds within the first interval; by default the 30th day or 48th hour before the end. At most ${INTERVALS_MAX} intervals.`,
    "1767225600",
  ),
  queryParameter(
    "to",
    uintParameter(TIME_MAX),
    "Unix seconds within the last interval; by default the time of the block.",
    "1767312000",
  ),
] as const;

export const volumes = defineIndexRead({
  path: "/analytics/volumes",
  operationId: "getVolumes",
  summary: "Settled volumes over time",
  description: `Receipts, settled volume and protocol fees of each token by hour or day, in UTC, for all receipts or those of a merchant, payment rail or facilitator. An interval without receipts has no element. Without token, the ${TOKENS_MAX} with the most receipts, because amounts of different tokens do not compare. Available from the finalized block on.`,
  tag: "Commerce",
  parameters,
  provenance: false,
  recentOnly: true,
  responseSchema: volumesSchema,
  notFoundMessage: null,
  plan: (input) => {
    const { interval = "day" } = input.values;
    return {
      sql: statement(input, interval),
      // At an earlier block, the statement reads every row that has changed since.
      cost: input.asOf === null ? "quick" : "slow",
      assemble: (rows) => assemble(rows, interval),
    };
  },
});
