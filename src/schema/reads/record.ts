// Records: which fields a response shows of the rows, and the read of one record by its id.

import { type JsonForm, lengthSql, type ValueOf } from "../column.ts";
import { type JsonSchema, nullable, type Schema, schemaOf, type TypeOf } from "../json-schema.ts";
import {
  type OperationTexts,
  type ParameterKind,
  pathParameter,
  textsOf,
  uintParameter,
} from "../parameter.ts";
import { compileSql, equalsHex, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";
import type { Columns, Table } from "../table.ts";
import { type AsOf, type Read, type ReadInput, type ResultRow, toFirstRecord } from "./read.ts";
import { recordProofs } from "./record-proofs.ts";

/** A value of a record: how a statement computes it, and its form in a response. */
export type Field<T = unknown> = {
  readonly sql: (asOf: AsOf) => SqlText;
  readonly json: Schema<T>;
  /** For a value whose length outsiders decide: its length in bytes, known without reading the value. */
  readonly bytes?: string;
};

type FieldsOf<Row> = { readonly [Name in keyof Row]: Field<Row[Name]> };

/** At most one row: `on` compares every key column of the table. */
type Join = { readonly table: Table; readonly alias: string; readonly on: string };

type RecordExtension<Row> = { readonly fields: FieldsOf<Row>; readonly joins: readonly Join[] };

/** The main rows of a record have the alias `t`; joined rows have their own. */
export type RecordShape<Row = ResultRow, Extension = ResultRow> = {
  readonly name: string;
  /** The rows valid at a block. */
  readonly source: (asOf: AsOf) => RecordSource;
  readonly joins: readonly Join[];
  readonly fields: FieldsOf<Row>;
  /** Fields of include=requirements, in addition to those above or instead of them, and the rows they need. */
  readonly requirements?: RecordExtension<Extension>;
  /** The columns of the main rows and those of their key, if they come from a single table of the index. */
  readonly columns: Columns;
  readonly key: readonly string[];
  /** The columns of each index of the main rows; empty if they come from more than one table. */
  readonly indexes: Table["indexes"];
  /** Whether every record comes from a log, so that its provenance is always known. */
  readonly hasProvenance: boolean;
  /** Whether a contract stores the record, so that a read of one may prove it. */
  readonly isProvable: boolean;
};

type RecordSource = {
  /** A `from` item; `where` has the conditions of the rows that are valid. */
  readonly from: SqlText;
  readonly where: readonly SqlText[];
  /** Conditions that all of them meet, which limit how much of an index a list walks. */
  readonly bounds: readonly SqlText[];
  /** The same rows as several sets that have indexes of their own; empty if one condition finds them. */
  readonly sets: readonly SqlText[];
};

/** The records of a response, with what the request includes. */
export type RecordOf<Shape, Include extends "provenance" | "requirements" = never> =
  Shape extends RecordShape<infer Row, infer Extension>
    ? ("requirements" extends Include ? Omit<Row, keyof Extension> & Extension : Row) &
        ("provenance" extends Include ? Provenance : unknown)
    : never;

export function defineRecord<Row, Extension>(declared: {
  name: string;
  table: Table;
  joins?: readonly Join[];
  fields: FieldsOf<Row>;
  requirements?: RecordExtension<Extension>;
  isProvable?: boolean;
}): RecordShape<Row, Extension> {
  const { name, table, joins = [], fields, requirements, isProvable = false } = declared;
  // Without indexes of their own, lists are found by the beginning of the key.
  const hasLists = table.indexes.length > 0;
  return {
    name,
    source: (asOf) => ({
      from: sql`${rawSql(table.name)}`,
      where: [isValidAt("t", asOf)],
      bounds: asOf === null || !table.countsUp ? [] : [beganBy(table, asOf.block)],
      sets:
        asOf === null || !hasLists ? [] : [isCurrentSince("t", asOf.block), isEndedAfter("t", asOf.block)],
    }),
    joins,
    fields,
    ...(requirements && { requirements }),
    columns: table.columns,
    key: table.key,
    indexes: table.indexes,
    hasProvenance: true,
    isProvable,
  };
}

/**
 * A record that does not come from a single table: `rows` selects what is valid at a block, including the provenance
 * columns, which are null for a row that comes from no log.
 */
export function defineDerivedRecord<Row>(declared: {
  name: string;
  rows: (asOf: AsOf) => SqlText;
  fields: FieldsOf<Row>;
}): RecordShape<Row> {
  const { name, rows, fields } = declared;
  const source = (asOf: AsOf) => ({ from: sql`(${rows(asOf)})`, where: [], bounds: [], sets: [] });
  return {
    name,
    source,
    joins: [],
    fields,
    columns: {},
    key: [],
    indexes: [],
    hasProvenance: false,
    isProvable: false,
  };
}

/** Columns of a table, unchanged, under their own names. */
export function columnFields<
  C extends Columns,
  K extends keyof C & string,
  const Name extends keyof C & string,
>(
  table: Table<C, K>,
  names: readonly Name[],
): { readonly [Each in Name]: Field<JsonForm<ValueOf<C[Each]>>> } {
  const fields = names.map((name) => {
    const column = table.columns[name];
    if (!column) throw new Error(`${table.name} has no column ${name}`);
    return [
      name,
      computedField(
        `t.${name}`,
        column.json,
        column.isUnbounded ? lengthSql(column, `t.${name}`) : undefined,
      ),
    ];
  });
  return Object.fromEntries(fields);
}

/** Every column of a table and the block of its event, except for those that the record does not show. */
export function tableFields<
  C extends Columns,
  K extends keyof C & string,
  const Hidden extends keyof C & string = never,
>(table: Table<C, K>, hidden: readonly Hidden[] = []) {
  type Shown = Exclude<keyof C & string, Hidden | "tx_hash" | "log_index">;
  const skipped: readonly string[] = [...hidden, "tx_hash", "log_index"];
  return columnFields(
    table,
    Object.keys(table.columns).filter((name): name is Shown => !skipped.includes(name)),
  );
}

/**
 * A value computed from the aliases of the record, at any block alike or by the block; `bytes` is its length if outsiders
 * decide it.
 */
export function computedField<const S extends JsonSchema>(
  expression: string | Field["sql"],
  json: S,
  bytes?: string,
): Field<TypeOf<S>> {
  const select = typeof expression === "string" ? () => sql`${rawSql(expression)}` : expression;
  return { sql: select, json: schemaOf(json), ...(bytes !== undefined && { bytes }) };
}

/** The condition that a column has a value, in the form of its type. */
export function equalsColumn({ columns }: { columns: Columns }, qualified: string, value: SqlValue): SqlText {
  const name = qualified.slice(qualified.indexOf(".") + 1);
  return columns[name]?.isHex ? equalsHex(qualified, value) : sql`${rawSql(qualified)} = ${value}`;
}

/** The condition that a version of a row is valid at the block. */
export function isValidAt(alias: string, asOf: AsOf): SqlText {
  if (asOf === null) return sql`${rawSql(alias)}.valid_to is null`;
  const block = asOf.block.toString();
  return sql`${rawSql(alias)}.valid_from <= ${block} and (${rawSql(alias)}.valid_to is null or ${rawSql(alias)}.valid_to > ${block})`;
}

/** The versions valid at a block that still are, and those that have ended since: together those of `isValidAt`. */
function isCurrentSince(alias: string, block: bigint): SqlText {
  return sql`${rawSql(alias)}.valid_to is null and ${rawSql(alias)}.valid_from <= ${block.toString()}`;
}

function isEndedAfter(alias: string, block: bigint): SqlText {
  return sql`${rawSql(alias)}.valid_to > ${block.toString()} and ${rawSql(alias)}.valid_from <= ${block.toString()}`;
}

/**
 * The keys that the contract had counted to by a block, found by halving: without it, a list that begins with the newest
 * row would pass all that came after the block.
 */
function beganBy({ name, key: [column = ""] }: Pick<Table, "name" | "key">, block: bigint): SqlText {
  const [rows, key] = [rawSql(name), rawSql(column)];
  const highest = sql`select coalesce(max(k.${key}), 0) from ${rows} k where k.valid_to is null`;
  const began = sql`select k.valid_from <= ${block.toString()} as began from ${rows} k where k.${key} >= m.middle order by k.${key}, k.valid_from limit 1`;
  const halves = sql`select case when b.began then m.middle else s.low end, case when b.began then s.high else m.middle - 1 end
    from s cross join lateral (select ceil((s.low + s.high) / 2) as middle) m cross join lateral (${began}) b where s.low < s.high`;
  return sql`t.${key} <= (with recursive s(low, high) as (select 0::numeric, (${highest}) union all ${halves}) select s.low from s where s.low >= s.high limit 1)`;
}

/** The chain's time at the block; for an old block, the time of the last block with events before it. */
export function blockTimeAt(asOf: AsOf): SqlText {
  if (asOf === null) return sql`h.block_timestamp`;
  return sql`(select b.timestamp from blocks b where b.number <= ${asOf.block.toString()} order by b.number desc limit 1)`;
}

/**
 * The time at which deadlines, windows and keys are judged: that of the block, or the later one that was asked for, as
 * long as the index has no later block. PostgreSQL computes it once, because nothing in it depends on a row.
 */
export function timeAt(asOf: AsOf): SqlText {
  if (asOf === null || asOf.time === null) return blockTimeAt(asOf);
  const next = sql`select n.timestamp - 1 from blocks n where n.number > ${asOf.block.toString()} order by n.number limit 1`;
  const last = sql`coalesce((${next}), (select c.block_timestamp from checkpoint c))`;
  return sql`greatest(${blockTimeAt(asOf)}, least(${asOf.time.toString()}::bigint, ${last}))`;
}

const PROVENANCE_FIELDS = {
  block_number: computedField("t.block_number", { type: "string" }),
  tx_hash: computedField("t.tx_hash", { type: "string" }),
  log_index: computedField("t.log_index", { type: "integer" }),
  block_hash: computedField("'0x' || encode(p.hash, 'hex')", { type: "string" }),
  block_timestamp: computedField("p.timestamp", { type: "string" }),
};

/** Most records have their block without it. */
function provenanceOf({ fields }: Pick<RecordShape, "fields">): Readonly<Record<string, Field>> {
  const { block_number, ...others } = PROVENANCE_FIELDS;
  return "block_number" in fields ? others : { block_number, ...others };
}

type Provenance = typeof PROVENANCE_FIELDS extends FieldsOf<infer Row> ? Row : never;

/** The part of a request that decides which columns of which versions are selected. */
type RecordInput = Pick<ReadInput, "asOf" | "provenance" | "requirements">;

/** The same text for requests whose statements select the same columns. */
export function describeColumns({ provenance, requirements = false }: RecordInput): string {
  return `${provenance} ${requirements}`;
}

/** The parts of a statement that depend neither on conditions nor on the page. */
type SelectParts = {
  readonly fields: SqlText;
  readonly joins: SqlText;
  readonly source: ReturnType<RecordShape["source"]>;
};

function selectParts(shape: RecordShape, { asOf, provenance, requirements }: RecordInput): SelectParts {
  const extension = requirements === true ? shape.requirements : undefined;
  const fields = {
    ...shape.fields,
    ...extension?.fields,
    ...(provenance ? provenanceOf(shape) : {}),
  };
  const selected = Object.entries(fields).map(
    ([key, field]) => sql`${field.sql(asOf)} as ${rawSql(`"${key}"`)}`,
  );
  const joins = [...shape.joins, ...(extension?.joins ?? [])].map((join) => joinAt(join, asOf));
  const blocks = provenance ? [sql` left join blocks p on p.number = t.block_number`] : [];
  return {
    fields: joinSql(selected, ", "),
    joins: joinSql([...joins, ...blocks], ""),
    source: shape.source(asOf),
  };
}

/**
 * At an earlier block the last version that began by then is found by the key, whose index also has `valid_from`. A plain
 * join would visit all earlier versions: a counter of a busy row has one for almost every block.
 */
function joinAt({ table, alias, on }: RecordShape["joins"][number], asOf: AsOf): SqlText {
  const joined = sql`${rawSql(table.name)} ${rawSql(alias)}`;
  if (asOf === null) return sql` left join ${joined} on ${rawSql(on)} and ${isValidAt(alias, asOf)}`;
  const last = sql`select ${rawSql(alias)}.* from ${joined} where ${rawSql(on)} and ${rawSql(alias)}.valid_from <= ${asOf.block.toString()} order by ${rawSql(alias)}.valid_from desc limit 1`;
  return sql` left join lateral (${last}) ${rawSql(alias)} on ${isValidAt(alias, asOf)}`;
}

/**
 * Most bytes of a page; a hundred ordinary records take a tenth of it. It bounds, plus one record, what a connection can
 * make us hold and what a page can make PostgreSQL read.
 */
export const PAGE_BYTES_MAX = 512 * 1024;

/** The rows of the main table that a page shows; expressions and conditions refer to `t` only. */
export type PageSelection = {
  readonly ordering: string;
  readonly limit: number;
  readonly offset: string;
  /** The condition that a row comes after the cursor; null for the first page. */
  readonly after: SqlText | null;
  /** Selected alongside the record, as _0, _1 …: the cursor of the next page. */
  readonly keys: readonly SqlText[];
};

/** select … from … where …; with a page, its rows are chosen before the joins, so that skipped rows join nothing. */
export function selectRecords(
  shape: RecordShape,
  input: RecordInput,
  where: readonly SqlText[],
  page: PageSelection | null = null,
): SqlText {
  const { fields, joins, source } = selectParts(shape, input);
  if (page === null) {
    const conditions = joinSql([sql`true`, ...source.where, ...where], " and ");
    return sql`select ${fields} from ${source.from} t${joins} where ${conditions}`;
  }
  const keys = page.keys.map((expression, index) => sql`${expression} as ${rawSql(`_${index}`)}`);
  const selected = joinSql([fields, ...keys], ", ");
  const ordering = rawSql(page.ordering);
  const chosen = sql`${selectMatching(source, where, page)} order by ${ordering} limit ${page.limit} offset ${page.offset}`;
  const rows = sql`from (${chosen}) t${joins} order by ${ordering}`;
  const bytes = recordBytes(shape);
  if (bytes === null) return sql`select ${selected} ${rows}`;
  // Sums the lengths row by row, and drops the rows beyond the limit before their values are read.
  const before = sql`sum(${rawSql(bytes)}) over (order by ${ordering} rows between unbounded preceding and 1 preceding)`;
  const measured = sql`select ${selected}, count(*) over () as _rows, coalesce(${before}, 0) as _bytes ${rows}`;
  return sql`select m.* from (${measured}) m where m._bytes < ${rawSql(String(PAGE_BYTES_MAX))}`;
}

/**
 * At an earlier block, conditions choose from each set by its own index; the page is among the first rows of both.
 * Without conditions the primary key has them all in order, after any cursor: the ended ones alone have no index that
 * begins with it, and a page would pass the whole rest of the list.
 */
function selectMatching(source: RecordSource, where: readonly SqlText[], page: PageSelection): SqlText {
  const narrowed = [...source.bounds, ...where, ...(page.after === null ? [] : [page.after])];
  const select = (conditions: readonly SqlText[]) =>
    sql`select t.* from ${source.from} t where ${joinSql([sql`true`, ...conditions, ...narrowed], " and ")}`;
  if (source.sets.length === 0 || where.length === 0) return select(source.where);
  const reach = (BigInt(page.limit) + BigInt(page.offset)).toString();
  const sets = source.sets.map(
    (set) => sql`(${select([set])} order by ${rawSql(page.ordering)} limit ${reach})`,
  );
  return sql`select t.* from (${joinSql(sets, " union all ")}) t`;
}

/** The length of all fields that outsiders can make long; null if there are none. */
function recordBytes({ fields }: RecordShape): string | null {
  const lengths = Object.values(fields).flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes]));
  return lengths.length === 0 ? null : lengths.map((length) => `coalesce(${length}, 0)`).join(" + ");
}

export function recordJsonSchema<Row, Extension>(shape: RecordShape<Row, Extension>): Schema<Row> {
  const { name, fields, requirements, hasProvenance, isProvable }: RecordShape = shape;
  const properties = Object.fromEntries([
    ...Object.entries({ ...fields, ...requirements?.fields }).map(([key, { json }]) => [key, json]),
    ...Object.entries(provenanceOf(shape)).map(([key, { json }]) => [
      key,
      { ...(hasProvenance ? json : nullable(json)), description: "With include=provenance." },
    ]),
    ...(isProvable ? [["proofs", recordProofs] as const] : []),
  ]);
  return schemaOf({
    title: name,
    type: "object",
    properties,
    required: Object.keys(fields),
    additionalProperties: false,
  });
}

/** One record by the parameter in its path. */
export function defineRecordRead(
  path: string,
  shape: RecordShape,
  options: OperationTexts & {
    /** The kind of the only parameter in the path; a whole number if absent. */
    kind?: ParameterKind<SqlValue>;
    /** The column that it is compared with; the key of the table if absent. */
    column?: string;
    notFoundMessage?: string;
  },
): Read {
  const { kind = uintParameter(), column = shape.key.join() } = options;
  const parameter = /:(\w+)/.exec(path)?.[1] ?? "";
  // Such as the id of an intent, also of an IntentWithMetadata, or the hash of a quote.
  const [noun = ""] = toWords(shape.name).split(" with ", 1);
  const id = toWords(parameter).split(" ").at(-1);
  const select = (input: RecordInput, value: SqlValue) =>
    selectRecords(shape, input, [equalsColumn(shape, `t.${column}`, value)]);
  // Statements at the latest block, compiled once.
  const compiled = new Map<string, ReturnType<typeof compileSql>>();
  const selectLatest = (input: RecordInput): ReturnType<typeof compileSql> => {
    const key = describeColumns(input);
    const known = compiled.get(key) ?? compileSql(select(input, null));
    compiled.set(key, known);
    return known;
  };
  return {
    ...textsOf(options),
    path,
    parameters: [pathParameter(parameter, kind, `${capitalize(noun)} ${id}.`)],
    provenance: true,
    requirements: shape.requirements !== undefined,
    ...(shape.isProvable && { isProvable: true }),
    responseSchema: recordJsonSchema(shape),
    notFoundMessage: options.notFoundMessage ?? `No ${noun} has this ${id}.`,
    plan(input) {
      const value = input.values[parameter] ?? null;
      const statement = input.asOf === null ? selectLatest(input)(value) : select(input, value);
      return { sql: statement, cost: "quick", assemble: toFirstRecord };
    },
  };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toWords(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
