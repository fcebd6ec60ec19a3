// Lists: records in pages, by offset or by cursor, narrowed by filters.

import type { JsonSchema } from "../json-schema.ts";
import {
  type OperationTexts,
  type Parameter,
  type ParameterKind,
  type ParameterValues,
  textsOf,
  type ValuesOf,
} from "../parameter.ts";
import { compileSql, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import { formatAtBlock } from "./block-at.ts";
import {
  afterCursor,
  assemblePage,
  assemblePageWithin,
  pageParameters,
  pageSchema,
  readPageInput,
  type SortOrder,
} from "./pagination.ts";
import {
  type AsOf,
  defineIndexRead,
  type Read,
  type ReadCost,
  type ReadInput,
  type ReadPlan,
  type ResultRow,
  type ResultRows,
} from "./read.ts";
import {
  describeColumns,
  equalsColumn,
  isValidAt,
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
