// Lists: records in pages, by offset or by cursor, narrowed by filters.

import { Fault } from "../../lib/fault.ts";
import { closedObject, eachKey, type JsonSchema, type Schema, schemaOf } from "../json-schema.ts";
import {
  type OperationTexts,
  type Parameter,
  type ParameterKind,
  type ParameterValues,
  queryParameter,
  textsOf,
  type ValuesOf,
} from "../parameter.ts";
import { compileSql, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import { formatAtBlock } from "./block-at.ts";
import {
  type AsOf,
  defineIndexRead,
  type Read,
  type ReadCost,
  type ReadInput,
  type ReadPlan,
  type ResultRow,
  type ResultRows,
  readHiddenColumn,
  toRecords,
} from "./read.ts";
import {
  describeColumns,
  equalsColumn,
  isValidAt,
  PAGE_BYTES_MAX,
  type PageSelection,
  type RecordShape,
  recordJsonSchema,
  selectRecords,
} from "./record.ts";

/** A list that belongs to one record: without the record, the list responds 404 too. */
export function withOwner(
  owner: { table: Table; column: string; parameter: string; notFoundMessage: string },
  read: Read,
): Read {
  const { table, column, parameter, notFoundMessage } = owner;
  return {
    ...read,
    notFoundMessage,
    plan(input) {
      const { sql: rows, cost, assemble, assembleWithin } = read.plan(input);
      const value = input.values[parameter] ?? null;
      const found = sql`select 1 from ${rawSql(table.name)} o where ${equalsColumn(table, `o.${column}`, value)} and ${isValidAt("o", input.asOf)}`;
      return {
        cost,
        // At least one row if the owner exists, to distinguish an empty list from a missing owner.
        sql: sql`select r.* from (${found}) o left join lateral (select true as _owned, q.* from (${rows}) q) r on true`,
        assemble: (result) => (result.rows.length === 0 ? null : assemble(selectOwnedRows(result))),
        ...(assembleWithin && {
          assembleWithin: (result, bytesMax) => assembleWithin(selectOwnedRows(result), bytesMax),
        }),
      };
    },
  };
}

function selectOwnedRows({ columns, rows }: ResultRows): ResultRows {
  const owned = columns.indexOf("_owned");
  return { columns, rows: rows.filter((cells) => cells[owned] === true) };
}

/** A condition that narrows a list. */
type ListFilter = {
  readonly kind: ParameterKind<SqlValue>;
  readonly description: string;
  readonly required?: boolean;
  /** The column of the main table that it compares for equality; absent for any other condition. */
  readonly column?: string;
  /** Whether this value alone may exclude most of what an index finds; absent if no value does. */
  readonly isSlow?: (value: SqlValue) => boolean;
  readonly where: (value: SqlValue, asOf: AsOf, page: ListRequest, shape: RecordShape) => SqlText;
};

/** The requested page, for a filter that finds its first rows by itself. */
export type ListRequest = {
  /** How many rows after the cursor decide the page. */
  readonly rowCount: number;
  /** The validated keys of the record that the page starts after; null for the first page. */
  readonly after: readonly string[] | null;
};

/** Equality with a column of the main table, which an index must begin with. */
export function equalsFilter(
  column: string,
  kind: ParameterKind<SqlValue>,
  description: string,
  required = false,
): ListFilter {
  const where: ListFilter["where"] = (value, _asOf, _page, shape) =>
    equalsColumn(shape, `t.${column}`, value);
  return { kind, description, required, column, where };
}

// Skipping this many rows takes about a millisecond, which no other read notices.
const QUICK_OFFSET_MAX = 1_000;

type Filters = Readonly<Record<string, ListFilter>>;

type ListOptions = OperationTexts & {
  /** The key of the records in the body. */
  readonly key: string;
  /** A direction alone sorts by the key of the table. */
  readonly order: SortOrder | SortOrder["direction"];
  readonly filters: Filters;
  /** Path parameters and conditions that always apply. */
  readonly pathFilters?: Filters;
  /** Keys of the body alongside the records and the pagination. */
  readonly extraFields?: (values: ReadInput["values"]) => Readonly<Record<string, unknown>>;
  readonly extraFieldSchemas?: Readonly<Record<string, JsonSchema>>;
  readonly mapRow?: (row: ResultRow) => unknown;
  readonly itemSchema?: JsonSchema;
};

export function defineList(path: string, shape: RecordShape, options: ListOptions): Read {
  const { key, filters, pathFilters = {} } = options;
  const order = typeof options.order === "string" ? orderByKey(shape, options.order) : options.order;
  const keys = order.keys.map(
    ({ sql: expression, cast }) =>
      sql`${rawSql(cast === "hex" ? `hex_text(${expression})` : `(${expression})::text`)}`,
  );
  const ordering = order.keys.map(({ sql: expression }) => `${expression} ${order.direction}`).join(", ");
  const selectPage = createPageSelector(shape, { ordering, keys });
  const { itemSchema = recordJsonSchema(shape), extraFieldSchemas = {} } = options;
  return defineIndexRead({
    ...textsOf(options),
    path,
    parameters: [
      ...describeFilters("path", pathFilters),
      ...describeFilters("query", filters),
      ...pageParameters,
    ],
    provenance: true,
    requirements: shape.requirements !== undefined,
    responseSchema: pageSchema(key, itemSchema, extraFieldSchemas),
    notFoundMessage: null,
    plan: (input) => planList(input, shape, { ...options, order }, selectPage),
  });
}

/** Keys of one column: the contract counts them up. */
function orderByKey({ key }: RecordShape, direction: SortOrder["direction"]): SortOrder {
  return { direction, keys: [{ sql: `t.${key.join()}`, cast: "numeric" }] };
}

function describeFilters(location: Parameter["in"], filters: Filters): Parameter<SqlValue>[] {
  return Object.entries(filters).map(([name, { kind, description, required }]) => ({
    name,
    in: location,
    required: location === "path" || required === true,
    kind,
    description,
  }));
}

function planList(
  input: ReadInput<ParameterValues<SqlValue> & ValuesOf<typeof pageParameters>>,
  shape: RecordShape,
  options: ListOptions & { readonly order: SortOrder },
  selectPage: SelectPage,
): ReadPlan {
  const { key, order, filters, pathFilters, extraFields, mapRow } = options;
  const { limit, offset, cursor } = readPageInput(input.values);
  const after = cursor === null ? null : afterCursor(order, cursor);
  const request = { rowCount: limit + 1 + Number(offset), after: cursor };
  const conditions = Object.entries({ ...pathFilters, ...filters }).flatMap(([name, filter]) => {
    const value = input.values[name];
    return value === undefined ? [] : [filter.where(value, input.asOf, request, shape)];
  });
  const atBlock = input.isDated && input.asOf !== null ? formatAtBlock(input.asOf) : null;
  const page = { limit, offset, key, order, extraFields: extraFields?.(input.values) ?? {}, mapRow, atBlock };
  return {
    // One row more than requested shows whether there is a next page.
    sql: selectPage(input, conditions, { limit: limit + 1, offset, after }),
    cost: needsScan(shape, filters, input.values) ? "slow" : costOf(input, offset),
    assemble: (result) => assemblePage(result, page),
    assembleWithin: (result, bytesMax) => assemblePageWithin(result, page, bytesMax),
  };
}

/** At an earlier block a list may pass many versions of other blocks, if only in an index. */
function costOf({ asOf }: ReadInput, offset: string): ReadCost {
  return asOf !== null || Number(offset) > QUICK_OFFSET_MAX ? "slow" : "quick";
}

/**
 * Several filters are quick only with an index that begins with all of their columns. With the index of one of them,
 * PostgreSQL scans every row that the others exclude: up to the whole table. Path parameters do not count: what belongs
 * to one record is read as a whole.
 */
function needsScan({ indexes }: RecordShape, filters: Filters, values: ReadInput["values"]): boolean {
  const given = Object.entries(filters).flatMap(([name, filter]) => {
    const value = values[name];
    return value === undefined ? [] : [{ filter, value }];
  });
  if (given.some(({ filter, value }) => filter.isSlow?.(value) === true)) return true;
  const coversAll = (index: readonly string[]) =>
    given.every(
      ({ filter: { column } }) => column !== undefined && index.slice(0, given.length).includes(column),
    );
  return given.length > 1 && !indexes.some(coversAll);
}

type SelectPage = (
  input: ReadInput,
  where: readonly SqlText[],
  page: Pick<PageSelection, "limit" | "offset" | "after">,
) => SqlText;

/** Statements at the latest block are compiled once for each set of conditions, then only filled with values. */
function createPageSelector(
  shape: RecordShape,
  options: Pick<PageSelection, "ordering" | "keys">,
): SelectPage {
  const compiled = new Map<string, ReturnType<typeof compileSql>>();
  return (input, where, page) => {
    const { limit, offset, after } = page;
    const conditions = joinSql(after === null ? where : [...where, after], " and ");
    const key = `${describeColumns(input)} ${conditions.text}`;
    const fill = input.asOf === null ? compiled.get(key) : undefined;
    if (fill) return fill(...conditions.values, limit, offset);
    const statement = selectRecords(shape, input, where, { ...options, ...page });
    // Only a statement without values of its own can be refilled from the conditions and the page.
    const isRefillable = statement.values.length === conditions.values.length + 2;
    if (input.asOf === null && isRefillable) compiled.set(key, compileSql(statement));
    return statement;
  };
}

/** The expressions a list is sorted by; together they are unique. All ascend or all descend. */
type SortOrder = {
  readonly direction: "asc" | "desc";
  readonly keys: readonly { readonly sql: string; readonly cast: "numeric" | "text" | "hex" }[];
};

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
// PostgreSQL reads every row that an offset skips: a hundred of the largest pages cost it some 10 ms. Deeper pages are
// read by cursor, at the cost of the first page.
const OFFSET_MAX = 10_000;
// The longest cursor that we produce: a handful of ids, or a policy subject of three addresses.
const CURSOR_LENGTH_MAX = 1_024;

const limitKind = { json: { type: "integer", minimum: 1, default: LIMIT_DEFAULT }, parse: parseLimit };
const offsetKind = {
  json: { type: "integer", minimum: 0, maximum: OFFSET_MAX, default: 0 },
  parse: parseOffset,
};
const cursorKind = { json: { type: "string" }, parse: parseCursor };

const pageParameters = [
  queryParameter(
    "limit",
    limitKind,
    `Records per page, at most ${LIMIT_MAX}; larger values count as ${LIMIT_MAX}. A page ends early if it would exceed ${PAGE_BYTES_MAX / 1024} KiB; continue with next_cursor, or with offset plus count.`,
    2,
  ),
  queryParameter(
    "offset",
    offsetKind,
    `Records to skip, at most ${OFFSET_MAX}. To go further, use cursor: every page then costs as much as the first.`,
    0,
  ),
  queryParameter("cursor", cursorKind, "next_cursor of the previous page, with the same filters."),
] as const;

/** The offset is decimal digits. */
function readPageInput(values: ValuesOf<typeof pageParameters>) {
  const { limit = LIMIT_DEFAULT, offset = "0", cursor = null } = values;
  return { limit, offset, cursor };
}

/** The condition that a row comes after the cursor. */
function afterCursor(order: SortOrder, cursor: readonly string[]): SqlText {
  if (cursor.length !== order.keys.length) throw badCursor();
  const keys = order.keys.map(({ sql: expression }) => expression).join(", ");
  const values = joinSql(
    order.keys.map(({ sql: expression, cast }, index) => {
      const value = cursor[index] ?? "";
      if (!CASTABLE[cast].test(value)) throw badCursor();
      return cast === "hex"
        ? sql`stored_hex(${rawSql(expression)}, ${value})`
        : sql`${value}::${rawSql(cast)}`;
    }),
    ", ",
  );
  return sql`(${rawSql(keys)}) ${rawSql(order.direction === "asc" ? ">" : "<")} (${values})`;
}

// Rejects what the cast in PostgreSQL would reject: a forged cursor is the client's error, not an internal one.
const CASTABLE = { numeric: /^-?[0-9]{1,78}$/, text: /^[^\0]*$/, hex: /^0x([0-9a-f]{2})*$/ } as const;

type PageOptions = {
  readonly limit: number;
  readonly offset: string;
  /** The key of the records in the body. */
  readonly key: string;
  readonly order: SortOrder;
  readonly extraFields: Readonly<Record<string, unknown>>;
  readonly mapRow: ((row: ResultRow) => unknown) | undefined;
  /** The block that the next pages are read at; null if their requests say it. */
  readonly atBlock: string | null;
};

/** The body with at most `limit` records; `requestedLimit` is what the client asked for. */
function assemblePage(rows: ResultRows, options: PageOptions, requestedLimit = options.limit): unknown {
  const { limit, offset, key, extraFields, mapRow } = options;
  const records = toRecords(rows, limit);
  const count = records.length;
  const next = countFoundRows(rows) > count ? { next_cursor: formatCursor(rows, count - 1, options) } : {};
  return {
    ...extraFields,
    [key]: mapRow ? records.map(mapRow) : records,
    pagination: { limit: requestedLimit, offset: Number(offset), count, ...next },
  };
}

/** How many rows were found, including those beyond the byte limit. */
function countFoundRows({ columns, rows }: ResultRows): number {
  const at = columns.indexOf("_rows");
  return at < 0 || rows.length === 0 ? rows.length : Number(rows[0]?.[at]);
}

// The fields of a page besides its records: pagination with the longest cursor, and extra fields.
const FRAME_BYTES = 4_096;

/** The same with as many of the first records as fit into the bytes: at least one, so that every page advances. */
function assemblePageWithin(rows: ResultRows, options: PageOptions, bytesMax: number): unknown {
  const { limit, mapRow } = options;
  let bytes = FRAME_BYTES;
  let count = 0;
  for (const record of toRecords(rows, limit)) {
    bytes += Buffer.byteLength(JSON.stringify(mapRow ? mapRow(record) : record)) + 1;
    if (bytes > bytesMax && count > 0) break;
    count += 1;
  }
  return assemblePage(rows, { ...options, limit: Math.max(count, 1) }, limit);
}

function formatCursor(rows: ResultRows, row: number, { order, atBlock }: PageOptions): string {
  const keys = order.keys.map((_, index) => readHiddenColumn(rows, row, `_${index}`));
  const encoded = Buffer.from(JSON.stringify(keys)).toString("base64url");
  return atBlock === null ? encoded : `${encoded}.${atBlock.replace("@", ".")}`;
}

/** The block that a cursor continues at; null if it names none. Any text may be given. */
export function readCursorBlock(cursor: string): string | null {
  const [, block, time] = CURSOR.exec(cursor) ?? [];
  if (block === undefined) return null;
  return time === undefined ? block : `${block}@${time}`;
}

// The keys of the last record, then the block and its time.
const CURSOR = /^[A-Za-z0-9_-]+(?:\.(\d{1,19})(?:\.(\d{1,19}))?)?$/;

function parseCursor(text: string): readonly string[] {
  try {
    if (text.length > CURSOR_LENGTH_MAX || !CURSOR.test(text)) throw new TypeError("not a cursor");
    const [keys = ""] = text.split(".");
    const parsed: unknown = JSON.parse(Buffer.from(keys, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // The error below names the parameter.
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
  itemSchema: JsonSchema,
  extraFieldSchemas: Readonly<Record<string, JsonSchema>>,
): Schema<unknown> {
  const pagination = closedObject(eachKey(["limit", "offset", "count"], { type: "integer" }), {
    next_cursor: { type: "string" },
  });
  return schemaOf({
    type: "object",
    properties: { ...extraFieldSchemas, [key]: { type: "array", items: itemSchema }, pagination },
    required: [...Object.keys(extraFieldSchemas), key, "pagination"],
    additionalProperties: false,
  });
}
