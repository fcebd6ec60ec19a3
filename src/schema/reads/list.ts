// Lists: records in pages, by offset or by cursor, narrowed by filters.

import { Fault } from "../../lib/fault.ts";
import type { JsonSchema } from "../column.ts";
import type { Parameter, ParameterKind } from "../parameter.ts";
import { compileSql, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import type { AsOf, Read, ReadCost, ReadInput } from "./read.ts";
import {
  isValidAt,
  PAGE_BYTES_MAX,
  type PageSelection,
  type RecordShape,
  recordJsonSchema,
  selectRecords,
} from "./record.ts";
import { type ResultRow, type ResultRows, readHiddenColumn, toRecords } from "./result-rows.ts";

// A list that belongs to one record: where the record is not there, neither is the list.

export function withOwner(
  owner: { table: Pick<Table, "name">; column: string; parameter: string; notFoundMessage: string },
  read: Read,
): Read {
  const { table, column, parameter, notFoundMessage: missing } = owner;
  return {
    ...read,
    notFoundMessage: missing,
    plan(input) {
      const { sql: rows, cost, assemble, assembleWithin } = read.plan(input);
      const value = input.values[parameter] as SqlValue;
      const found = sql`select 1 from ${rawSql(table.name)} o where o.${rawSql(column)} = ${value} and ${isValidAt("o", input.asOf)}`;
      return {
        cost,
        // One row at least where the owner is there, so that an empty list can be told from none.
        sql: sql`select r.* from (${found}) o left join lateral (select true as _owned, q.* from (${rows}) q) r on true`,
        assemble: (answered) => (answered.rows.length === 0 ? null : assemble(ownedRows(answered))),
        ...(assembleWithin && {
          assembleWithin: (answered, bytesMax) => assembleWithin(ownedRows(answered), bytesMax),
        }),
      };
    },
  };
}

function ownedRows({ columns, rows }: ResultRows): ResultRows {
  const owned = columns.indexOf("_owned");
  return { columns, rows: rows.filter((cells) => cells[owned] === true) };
}

/** What a list can be narrowed by. */
export type ListFilter = {
  readonly kind: ParameterKind<SqlValue>;
  readonly description: string;
  readonly required?: boolean;
  /** The column of the main table that it compares for equality; absent where it is another kind of condition. */
  readonly column?: string;
  /** Whether this value alone may exclude most of what an index leads to; absent where none does. */
  readonly isSlow?: (value: SqlValue) => boolean;
  readonly where: (value: SqlValue, asOf: AsOf, page: PageRequest) => SqlText;
};

/** The page that is wanted, for a filter that finds its first rows by itself. */
export type PageRequest = {
  /** How many rows, from the first one after the cursor on, decide the page. */
  readonly rowCount: number;
  /** The keys of the record that the page begins after, checked; null from the beginning. */
  readonly after: readonly string[] | null;
};

/** Equality with a column of the main table, which an index must begin with. */
export function equalsFilter(
  column: string,
  kind: ParameterKind<SqlValue>,
  meaning: string,
  required = false,
): ListFilter {
  return {
    kind,
    description: meaning,
    required,
    column,
    where: (value) => sql`t.${rawSql(column)} = ${value}`,
  };
}

/**
 * Equality with a column that never changes in the life of a row. Indexes are over the current rows; since every row
 * that ever was has a current version, those find the row, and only its version is another at an earlier block.
 */
export function immutableFilter(
  table: Pick<Table, "name" | "key">,
  column: string,
  kind: ParameterKind<SqlValue>,
  meaning: string,
  required = false,
): ListFilter {
  const [key, ...more] = table.key;
  if (key === undefined || more.length > 0) throw new Error(`${table.name} has a key of several columns`);
  const found = (value: SqlValue) =>
    sql`t.${rawSql(key)} in (select c.${rawSql(key)} from ${rawSql(table.name)} c where c.valid_to is null and c.${rawSql(column)} = ${value})`;
  return {
    kind,
    description: meaning,
    required,
    column,
    where: (value, asOf) => (asOf === null ? sql`t.${rawSql(column)} = ${value}` : found(value)),
  };
}

/** The expressions a list is ordered by; together they are unique. All ascend or all descend. */
export type SortOrder = {
  readonly direction: "asc" | "desc";
  readonly keys: readonly { readonly sql: string; readonly cast: string }[];
};

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
// PostgreSQL reads every row that an offset skips. A hundred of the largest pages cost it some 10 ms; what lies deeper
// is reached by cursor, at the cost of the first page.
const OFFSET_MAX = 10_000;
// So many rows are skipped in about a millisecond, which no other read notices.
const QUICK_OFFSET_MAX = 1_000;
// What a cursor of ours can be at the most: a handful of ids, or a policy's subject of three addresses.
const CURSOR_LENGTH_MAX = 1_024;

const pageParameters: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    required: false,
    description: `Records per page; above ${LIMIT_MAX} counts as ${LIMIT_MAX}. A page has fewer where they would exceed ${PAGE_BYTES_MAX / 1024} KiB; next_cursor, or offset plus count, goes on after them.`,
    kind: { json: { type: "integer", minimum: 1, default: LIMIT_DEFAULT }, parse: parseLimit },
  },
  {
    name: "offset",
    in: "query",
    required: false,
    description: `Records to skip, at most ${OFFSET_MAX}. A cursor leads on from any page at the cost of the first one.`,
    kind: { json: { type: "integer", minimum: 0, maximum: OFFSET_MAX, default: 0 }, parse: parseOffset },
  },
  {
    name: "cursor",
    in: "query",
    required: false,
    description: "The next_cursor of the page before; goes with the same filters.",
    kind: { json: { type: "string" }, parse: parseCursor },
  },
];

export function defineList(
  path: string,
  shape: RecordShape,
  options: {
    operationId: string;
    summary: string;
    tag: string;
    key: string;
    order: SortOrder;
    filters: Readonly<Record<string, ListFilter>>;
    /** Path parameters and conditions that always hold. */
    pathFilters?: Readonly<Record<string, ListFilter>>;
    /** Other keys of the body beside the records and the pagination. */
    extraFields?: (values: ReadInput["values"]) => Readonly<Record<string, unknown>>;
    extraFieldSchemas?: Readonly<Record<string, JsonSchema>>;
    mapRow?: (row: ResultRow) => unknown;
    itemSchema?: JsonSchema;
  },
): Read {
  const {
    operationId: operation,
    summary,
    tag,
    key,
    order,
    filters,
    pathFilters: within = {},
    extraFields: around = () => ({}),
    extraFieldSchemas: aroundSchema = {},
  } = options;
  const described = (place: Parameter["in"], set: Readonly<Record<string, ListFilter>>): Parameter[] =>
    Object.entries(set).map(([each, filter]) => ({
      name: each,
      in: place,
      required: place === "path" || filter.required === true,
      kind: filter.kind,
      description: filter.description,
    }));
  const narrowing = Object.entries({ ...within, ...filters });
  const keys = order.keys.map(({ sql: expression }) => sql`${rawSql(`(${expression})::text`)}`);
  const ordering = order.keys.map(({ sql: expression }) => `${expression} ${order.direction}`).join(", ");
  const select = pageSelector(shape, { ordering, keys });
  return {
    path,
    operationId: operation,
    summary,
    tag,
    parameters: [...described("path", within), ...described("query", filters), ...pageParameters],
    provenance: true,
    responseSchema: pageSchema(key, options.itemSchema ?? recordJsonSchema(shape), aroundSchema),
    notFoundMessage: null,
    plan: (input) => {
      const limit = (input.values.limit as number | undefined) ?? LIMIT_DEFAULT;
      const offset = (input.values.offset as string | undefined) ?? "0";
      const cursor = input.values.cursor as readonly string[] | undefined;
      const after = cursor === undefined ? [] : [beyond(order, cursor)];
      const wanted = { rowCount: limit + 1 + Number(offset), after: cursor ?? null };
      const narrowed = narrowing.flatMap(([each, filter]) =>
        input.values[each] === undefined
          ? []
          : [filter.where(input.values[each] as SqlValue, input.asOf, wanted)],
      );
      const where = [...narrowed, ...after];
      const shown = { limit, offset, key, order, around: around(input.values), present: options.mapRow };
      return {
        // One more than asked for tells whether there is a next page.
        sql: select(input, joinSql(where, " and "), limit + 1, offset),
        cost: needsWalk(shape, filters, input.values) ? "slow" : costOf(input, offset),
        assemble: (answered) => page(answered, shown),
        assembleWithin: (answered, bytesMax) =>
          page(answered, { ...shown, limit: fitting(answered, shown, bytesMax) }, limit),
      };
    },
  };
}

/**
 * Indexes are over the current rows. At an earlier block a list passes over every row that came later, and over all that
 * a filter excludes: that is as much as the whole table.
 */
function costOf({ asOf }: ReadInput, offset: string): ReadCost {
  return asOf !== null || Number(offset) > QUICK_OFFSET_MAX ? "slow" : "quick";
}

/**
 * Several filters are quick only by an index that begins with all of their columns. By the index of one of them,
 * PostgreSQL passes over every row that the others exclude, and that is as much as the whole table. Path parameters do
 * not count: what belongs to one record is read as a whole.
 */
function needsWalk(
  { indexes }: RecordShape,
  filters: Readonly<Record<string, ListFilter>>,
  values: ReadInput["values"],
): boolean {
  const given = Object.entries(filters).filter(([each]) => values[each] !== undefined);
  if (given.some(([each, { isSlow }]) => isSlow?.(values[each] as SqlValue) === true)) return true;
  const isFirstOf = (index: readonly string[]) =>
    given.every(([, { column }]) => column !== undefined && index.slice(0, given.length).includes(column));
  return given.length > 1 && !indexes.some(isFirstOf);
}

type SelectPage = (input: ReadInput, where: SqlText, limit: number, offset: string) => SqlText;

/** What is asked without a block is put together once for each set of conditions, and then only filled. */
function pageSelector(shape: RecordShape, options: Pick<PageSelection, "ordering" | "keys">): SelectPage {
  const known = { plain: new Map<string, Fill>(), proven: new Map<string, Fill>() };
  return (input, where, limit, offset) => {
    const conditions = where.text;
    const made = input.provenance ? known.proven : known.plain;
    const fill = input.asOf === null ? made.get(conditions) : undefined;
    if (fill) return fill(...where.values, limit, offset);
    const statement = selectRecords(shape, input, conditions === "" ? [] : [where], {
      ...options,
      limit,
      offset,
    });
    // The frame of a list has no values of its own unless it is of a block; should one ever, it is put together anew.
    const alone = statement.values.length === where.values.length + 2;
    if (input.asOf === null && alone) made.set(conditions, compileSql(statement));
    return statement;
  };
}

type Fill = ReturnType<typeof compileSql>;

function beyond(order: SortOrder, cursor: readonly string[]): SqlText {
  if (cursor.length !== order.keys.length) throw badCursor();
  const keys = order.keys.map(({ sql: expression }) => expression).join(", ");
  const values = joinSql(
    order.keys.map(({ cast }, index) => sql`${castable(cursor[index] ?? "", cast)}::${rawSql(cast)}`),
    ", ",
  );
  return sql`(${rawSql(keys)}) ${rawSql(order.direction === "asc" ? ">" : "<")} (${values})`;
}

// What the cast would refuse is refused here: a forged cursor is the client's mistake, not a failure of ours.
function castable(value: string, cast: string): string {
  if (cast === "text" ? value.includes("\0") : !/^-?[0-9]{1,78}$/.test(value)) throw badCursor();
  return value;
}

type PageOptions = {
  readonly limit: number;
  readonly offset: string;
  readonly key: string;
  readonly order: SortOrder;
  readonly around: Readonly<Record<string, unknown>>;
  readonly present: ((row: ResultRow) => unknown) | undefined;
};

/** At most `limit` records; `asked` is the limit that the client gave. */
function page(answered: ResultRows, options: PageOptions, asked = options.limit): unknown {
  const { limit, offset, key, order, around, present } = options;
  const records = toRecords(answered, limit);
  const count = records.length;
  const more = foundRows(answered) > count ? { next_cursor: cursorOf(answered, count - 1, order) } : {};
  return {
    ...around,
    [key]: present ? records.map(present) : records,
    pagination: { limit: asked, offset: Number(offset), count, ...more },
  };
}

/** How many rows were found, also where those beyond the limit of bytes were left out. */
function foundRows({ columns, rows }: ResultRows): number {
  const at = columns.indexOf("_rows");
  return at < 0 || rows.length === 0 ? rows.length : Number(rows[0]?.[at]);
}

// What a page has beside its records: pagination with a cursor of the largest size, and what stands around.
const FRAME_BYTES = 4_096;

/** How many of the first records fit into a page of so many bytes: one at least, because a page goes on somewhere. */
function fitting(answered: ResultRows, { limit, present }: PageOptions, bytesMax: number): number {
  let bytes = FRAME_BYTES;
  let count = 0;
  for (const record of toRecords(answered, limit)) {
    bytes += Buffer.byteLength(JSON.stringify(present ? present(record) : record)) + 1;
    if (bytes > bytesMax && count > 0) break;
    count += 1;
  }
  return Math.max(count, 1);
}

function cursorOf(answered: ResultRows, row: number, order: SortOrder): string {
  const keys = order.keys.map((_, index) => readHiddenColumn(answered, row, `_${index}`));
  return Buffer.from(JSON.stringify(keys)).toString("base64url");
}

function parseCursor(text: string): readonly string[] {
  try {
    if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text))
      throw new TypeError("not base64url");
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // Told below, in the words of whoever sent it.
  }
  throw badCursor();
}

function badCursor(): Fault {
  return new Fault("INPUT_INVALID", "cursor must be the next_cursor of an earlier page of the same list.");
}

function parseLimit(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text) || Number(text) < 1) {
    throw new Fault("INPUT_INVALID", "limit must be a whole number from 1; more than 100 counts as 100.");
  }
  return Math.min(Number(text), LIMIT_MAX);
}

function parseOffset(text: string): string {
  if (!/^[0-9]+$/.test(text)) throw new Fault("INPUT_INVALID", "offset must be a whole number from 0.");
  if (Number(text) > OFFSET_MAX) {
    throw new Fault(
      "INPUT_INVALID",
      `offset must be at most ${OFFSET_MAX}; to go deeper, pass the next_cursor of each page as cursor.`,
    );
  }
  return String(Number(text));
}

function pageSchema(
  key: string,
  item: JsonSchema,
  around: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const pagination = {
    type: "object",
    properties: {
      limit: { type: "integer" },
      offset: { type: "integer" },
      count: { type: "integer" },
      next_cursor: { type: "string" },
    },
    required: ["limit", "offset", "count"],
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: { ...around, [key]: { type: "array", items: item }, pagination },
    required: [...Object.keys(around), key, "pagination"],
    additionalProperties: false,
  };
}
