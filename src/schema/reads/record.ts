// Records: what an answer shows of the rows, and one of them by its path.

import type { Column, JsonSchema } from "../column.ts";
import { nullable } from "../json-schema.ts";
import type { ParameterKind } from "../parameter.ts";
import { compileSql, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import type { AsOf, Read, ReadInput } from "./read.ts";
import { toFirstRecord } from "./result-rows.ts";

export type Field = {
  readonly sql: (asOf: AsOf) => SqlText;
  readonly json: JsonSchema;
  /** Where outsiders decide how long the value is: its length in bytes, found without reading the value. */
  readonly bytes?: string;
};

/** A record's main rows have the alias `t`; joined ones have their own. */
export type RecordShape = {
  readonly name: string;
  /** The rows that hold at a block, as they stand after `from`. */
  readonly source: (asOf: AsOf) => { readonly from: SqlText; readonly where: readonly SqlText[] };
  readonly joins: readonly { readonly table: Table; readonly alias: string; readonly on: string }[];
  readonly fields: Readonly<Record<string, Field>>;
  /** The columns of each index of the main rows; none where they are of no single table. */
  readonly indexes: Table["indexes"];
  /** Whether every record comes from a log, so that its provenance is always known. */
  readonly hasProvenance: boolean;
};

type AnyTable = Pick<Table, "name">;

export function defineRecord(declared: {
  name: string;
  table: Pick<Table, "name" | "indexes">;
  joins?: readonly { table: AnyTable; alias: string; on: string }[];
  fields: Readonly<Record<string, Field>>;
}): RecordShape {
  const { name: title, table, joins = [], fields } = declared;
  return {
    name: title,
    source: (asOf) => ({ from: sql`${rawSql(table.name)}`, where: [isValidAt("t", asOf)] }),
    joins: joins as RecordShape["joins"],
    fields,
    indexes: table.indexes,
    hasProvenance: true,
  };
}

/**
 * A record of no single table: `rows` selects what holds at a block, the columns of the provenance included. These
 * are null where a row comes from no log.
 */
export function defineDerivedRecord(declared: {
  name: string;
  rows: (asOf: AsOf) => SqlText;
  fields: Readonly<Record<string, Field>>;
}): RecordShape {
  const { name: title, rows, fields } = declared;
  const source = (asOf: AsOf) => ({ from: sql`(${rows(asOf)})`, where: [] });
  return { name: title, source, joins: [], fields, indexes: [], hasProvenance: false };
}

/** Columns of a table as they are, under their own names. */
export function columnFields(table: AnyTable, names: readonly string[], alias = "t"): Record<string, Field> {
  return Object.fromEntries(
    names.map((each) => {
      const column = (table as Table).columns[each] as Column<unknown> | undefined;
      if (!column) throw new Error(`${table.name} has no column ${each}`);
      const field = { sql: () => sql`${rawSql(`${alias}.${each}`)}`, json: column.json };
      return [each, column.isUnbounded ? { ...field, bytes: `octet_length(${alias}.${each})` } : field];
    }),
  );
}

/** A value computed from the aliases of the record; `bytes` tells its length where outsiders decide on it. */
export function computedField(expression: string, json: JsonSchema, bytes?: string): Field {
  const field = { sql: () => sql`${rawSql(expression)}`, json };
  return bytes === undefined ? field : { ...field, bytes };
}

/** Whether a version of a row holds at the block looked at. */
export function isValidAt(alias: string, asOf: AsOf): SqlText {
  if (asOf === null) return sql`${rawSql(alias)}.valid_to is null`;
  const block = asOf.toString();
  return sql`${rawSql(alias)}.valid_from <= ${block} and (${rawSql(alias)}.valid_to is null or ${rawSql(alias)}.valid_to > ${block})`;
}

/** The chain's time at the block looked at: that of the last block with events, where older ones are forgotten. */
export function blockTimeAt(asOf: AsOf): SqlText {
  if (asOf === null) return sql`h.block_timestamp`;
  return sql`(select b.timestamp from blocks b where b.number <= ${asOf.toString()} order by b.number desc limit 1)`;
}

const PROVENANCE_FIELDS: Readonly<Record<string, Field>> = {
  tx_hash: computedField("t.tx_hash", { type: "string" }),
  log_index: computedField("t.log_index", { type: "integer" }),
  block_hash: computedField("'0x' || encode(p.hash, 'hex')", { type: "string" }),
  block_timestamp: computedField("p.timestamp", { type: "string" }),
};

/** The parts of a statement in which neither a condition nor a page has a say. */
type Frame = {
  readonly shown: SqlText;
  readonly joining: SqlText;
  readonly source: ReturnType<RecordShape["source"]>;
};

function frameOf(shape: RecordShape, asOf: AsOf, provenance: boolean): Frame {
  const fields = provenance ? { ...shape.fields, ...PROVENANCE_FIELDS } : shape.fields;
  const shown = Object.entries(fields).map(
    ([key, field]) => sql`${field.sql(asOf)} as ${rawSql(`"${key}"`)}`,
  );
  const joins = shape.joins.map(
    ({ table, alias, on }) =>
      sql` left join ${rawSql(table.name)} ${rawSql(alias)} on ${rawSql(on)} and ${isValidAt(alias, asOf)}`,
  );
  const blocks = provenance ? [sql` left join blocks p on p.number = t.block_number`] : [];
  return {
    shown: joinSql(shown, ", "),
    joining: joinSql([...joins, ...blocks], ""),
    source: shape.source(asOf),
  };
}

/**
 * Most bytes of a page. A hundred records of ordinary size have a tenth of it; what a connection can make us hold, and
 * what a page can make PostgreSQL read, is this and one record.
 */
export const PAGE_BYTES_MAX = 512 * 1024;

/** Which rows of the main table a page shows; expressions and conditions speak of `t` alone. */
export type PageSelection = {
  readonly ordering: string;
  readonly limit: number;
  readonly offset: string;
  /** Selected beside the record, as _0, _1 …: what the next page begins after. */
  readonly keys: readonly SqlText[];
};

/** select … from … where …; with a page, its rows are chosen before anything is joined to those it skips. */
export function selectRecords(
  shape: RecordShape,
  input: Pick<ReadInput, "asOf" | "provenance">,
  where: readonly SqlText[],
  page: PageSelection | null = null,
): SqlText {
  const { asOf, provenance } = input;
  const { shown, joining, source } = frameOf(shape, asOf, provenance);
  const conditions = joinSql([sql`true`, ...source.where, ...where], " and ");
  if (page === null) return sql`select ${shown} from ${source.from} t${joining} where ${conditions}`;
  const keys = page.keys.map((expression, index) => sql`${expression} as ${rawSql(`_${index}`)}`);
  const selected = joinSql([shown, ...keys], ", ");
  const ordering = rawSql(page.ordering);
  const chosen = sql`select t.* from ${source.from} t where ${conditions} order by ${ordering} limit ${page.limit} offset ${page.offset}`;
  const rows = sql`from (${chosen}) t${joining} order by ${ordering}`;
  const bytes = bytesOf(shape);
  if (bytes === null) return sql`select ${selected} ${rows}`;
  // Lengths are added up row by row, and the rows after the limit are left out before their values are read.
  const before = sql`sum(${rawSql(bytes)}) over (order by ${ordering} rows between unbounded preceding and 1 preceding)`;
  const measured = sql`select ${selected}, count(*) over () as _rows, coalesce(${before}, 0) as _bytes ${rows}`;
  return sql`select m.* from (${measured}) m where m._bytes < ${rawSql(String(PAGE_BYTES_MAX))}`;
}

/** The length of what outsiders can make long in a record; null where there is no such thing. */
function bytesOf({ fields }: RecordShape): string | null {
  const lengths = Object.values(fields).flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes]));
  return lengths.length === 0 ? null : lengths.map((length) => `coalesce(${length}, 0)`).join(" + ");
}

export function recordJsonSchema(shape: RecordShape): JsonSchema {
  const fields = Object.entries(shape.fields);
  const properties = Object.fromEntries([
    ...fields.map(([key, field]) => [key, field.json]),
    ...Object.entries(PROVENANCE_FIELDS).map(([key, { json }]) => [
      key,
      {
        ...(shape.hasProvenance ? json : nullable(json)),
        description: "With include=provenance.",
      },
    ]),
  ]);
  return {
    title: shape.name,
    type: "object",
    properties,
    required: fields.map(([key]) => key),
    additionalProperties: false,
  };
}

const NOW = { asOf: null, provenance: false };
const NOW_PROVEN = { asOf: null, provenance: true };

/** One record by the parameter in its path. */
export function defineRecordRead(
  path: string,
  shape: RecordShape,
  options: {
    operationId: string;
    summary: string;
    tag: string;
    parameter: string;
    kind: ParameterKind<SqlValue>;
    column: string;
    notFoundMessage: string;
  },
): Read {
  const { operationId: operation, summary, tag, parameter, kind, column, notFoundMessage: missing } = options;
  const selected = (input: Pick<ReadInput, "asOf" | "provenance">, value: SqlValue) =>
    selectRecords(shape, input, [sql`t.${rawSql(column)} = ${value}`]);
  const current = { plain: compileSql(selected(NOW, null)), proven: compileSql(selected(NOW_PROVEN, null)) };
  return {
    path,
    operationId: operation,
    summary,
    tag,
    parameters: [
      { name: parameter, in: "path", required: true, kind, description: missingMeaning(shape, parameter) },
    ],
    provenance: true,
    responseSchema: recordJsonSchema(shape),
    notFoundMessage: missing,
    plan({ values, asOf, provenance }) {
      const value = values[parameter] as SqlValue;
      const { plain, proven } = current;
      const sql =
        asOf === null ? (provenance ? proven : plain)(value) : selected({ asOf, provenance }, value);
      return { sql, cost: "quick", assemble: toFirstRecord };
    },
  };
}

function missingMeaning(shape: RecordShape, parameter: string): string {
  const words = shape.name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return `Which ${words}: its ${parameter}.`;
}
