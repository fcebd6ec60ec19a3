// Versioned tables, from their declarations: their SQL and indexes, and how versions are written, rolled back and loaded.
import { createHash } from "node:crypto";
import type { Column } from "../../schema/column.ts";
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import { type CopyBinaryType, type CopyBinaryValue, encodeCopyBinary } from "../fast/copy-encoder.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { QueryRunner, Session, StoredRow } from "../postgres/session.ts";
import type { RowLoader, TableVersions, TouchedKey } from "./row-versions.ts";

/** `final`: no reorg can undo the blocks, so tables with `recent` history store only the current row. */
type VersionWriteOptions = { readonly final: boolean };

export function createRowLoader(session: QueryRunner): RowLoader {
  return async (table, keys) => {
    const { rows } = await session.query<StoredRow>({
      text: selectCurrentSql(table),
      values: keyColumns(table, keys),
    });
    return new Map(
      rows.map((stored) => {
        const row = decodeStoredRow(table, stored);
        return [formatKey(table.key, row), row];
      }),
    );
  };
}

export function buildVersionSteps(
  { table, endedVersions, newVersions }: TableVersions,
  { final }: VersionWriteOptions,
): PipelineStep[] {
  const currentOnly = final && table.history === "recent";
  const steps: PipelineStep[] = [];
  if (endedVersions.length > 0) {
    const ends = currentOnly ? [] : [`{${endedVersions.map(({ at }) => at).join(",")}}`];
    const statement = currentOnly ? deleteCurrent(table) : endVersions(table);
    steps.push({ ...statement, values: [...keyColumns(table, endedVersions), ...ends] });
  }
  const written = currentOnly ? newVersions.filter(({ to }) => to === null) : newVersions;
  steps.push({
    copy: copyRowsSql(table),
    messages: encodeCopyBinary(describeColumns(table).copyTypes, versionValues(table, written)),
  });
  return steps;
}

/** Deletes versions that start after the block and reopens those that ended after it. */
export async function rollbackTables(
  session: Session,
  tables: readonly Table[],
  block: number,
): Promise<void> {
  // Without statistics, as right after a first backfill or a restored backup, the planner takes a third of each table for
  // newer than the block, and reads all of it instead of the index.
  await session.query("set local enable_seqscan to off");
  for (const table of tables) await rollbackTable(session, table, block);
}

async function rollbackTable(session: Session, table: Table, block: number): Promise<void> {
  const { rows } = await session.query<StoredRow>({
    text: deleteVersionsAfterSql(table),
    values: [block],
  });
  if (rows.length === 0) return;
  const keys = table.key.map((name) => {
    const column = requireColumn(table, name);
    return rows.map((row) => column.toSql(column.fromSql(requireKeyValue(table, row, name)) as string));
  });
  await session.query({
    text: reopenVersionsSql(table),
    values: [...keys, rows.map((row) => String(row.born))],
  });
}

/** Drops versions of a `recent` table that ended at or before a final block. */
export function buildPruneTableSteps(table: Table, finalized: number): PipelineStep[] {
  if (table.history !== "recent") return [];
  const text = `delete from ${table.name} where valid_to <= $1`;
  return [{ name: `prune ${table.name}`, text, values: [finalized] }];
}

/** One array parameter per key column; `encodeHex` is for a statement that takes hex as text. */
export function keyColumns(
  table: Table,
  keys: readonly Pick<TouchedKey, "key">[],
  encodeHex: (value: unknown) => string = escapeHex,
): string[] {
  return table.key.map((name) => {
    const column = requireColumn(table, name);
    const encode = column.isHex ? encodeHex : column.toSql;
    const values = keys.map(({ key }) => encode(requireKeyValue(table, key, name)));
    return encodeArrayLiteral(values, column.isHex || column.isEscapeFree);
  });
}

/** Hex as bytes, escaped for an array without quotes. */
function escapeHex(value: unknown): string {
  return `\\\\${(value as string).slice(1)}`;
}

/** Pipelines send parameters as text, so arrays are encoded here. */
function encodeArrayLiteral(values: readonly string[], isEscapeFree: boolean): string {
  return isEscapeFree ? `{${values.join(",")}}` : `{"${values.map(escapeArrayElement).join('","')}"}`;
}

// Few values need escaping, and testing is cheaper than replacing.
function escapeArrayElement(value: string): string {
  return /["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value;
}

export function decodeStoredRow(table: Table, stored: StoredRow): Row {
  const row: Record<string, unknown> = {};
  const { names, columns } = describeColumns(table);
  for (const [at, name] of names.entries()) {
    const value = stored[name];
    row[name] = value === null || value === undefined ? null : columns[at]?.fromSql(value);
  }
  return row;
}

/** One array for all versions, because the encoder is done with it before the next one. */
function* versionValues(
  table: Table,
  versions: TableVersions["newVersions"],
): Generator<readonly CopyBinaryValue[]> {
  const { names } = describeColumns(table);
  const values: CopyBinaryValue[] = new Array(names.length + VALIDITY.length);
  for (const { row, from, to } of versions) {
    for (let at = 0; at < names.length; at += 1)
      values[at] = (row[names[at] as string] ?? null) as CopyBinaryValue;
    values[names.length] = from;
    values[names.length + 1] = to;
    yield values;
  }
}

/** The columns of a table as lists; the types of copied rows include those of their validity. */
type ColumnLists = {
  readonly names: readonly string[];
  readonly columns: readonly Column<unknown>[];
  readonly copyTypes: readonly CopyBinaryType[];
};

const columnLists = new WeakMap<Table, ColumnLists>();

function describeColumns(table: Table): ColumnLists {
  let lists = columnLists.get(table);
  if (!lists) {
    const columns = Object.values(table.columns);
    const copyTypes = [...columns.map(copyTypeOf), "int8" as const, "int8" as const];
    lists = { names: Object.keys(table.columns), columns, copyTypes };
    columnLists.set(table, lists);
  }
  return lists;
}

const COPY_TYPES: ReadonlyMap<string, CopyBinaryType> = new Map([
  ["bigint", "int8"],
  ["integer", "int4"],
  ["numeric", "numeric"],
  ["boolean", "boolean"],
  ["text", "text"],
  ["bytea", "bytea"],
]);

function copyTypeOf(column: Column<unknown>): CopyBinaryType {
  const type = COPY_TYPES.get(bareType(column));
  if (!type) throw new Error(`rows with a column of type ${column.sql} cannot be copied`);
  return type;
}

/** A version is valid from `valid_from` up to, but not including, `valid_to`; the current one has no end. */
const VALIDITY = ["valid_from", "valid_to"] as const;

export function createTableSql(table: Table): string {
  return `${bareTableSql(table)},\n  primary key (${table.key.join(", ")}, valid_from))`;
}

/** For many rows at once, which get their primary key at the end. Until then, followers recognise a row by all its columns. */
export function createBareTableSql(table: Table): string {
  return `${bareTableSql(table)}); alter table ${table.name} replica identity full`;
}

/** Made first, because the constraint alone locks readers out for a moment only. */
export function createKeyIndexSql({ name, key }: Table): string {
  return `create unique index ${name}_pkey on ${name} (${key.join(", ")}, valid_from)`;
}

export function addPrimaryKeySql({ name }: Table): string {
  return `alter table ${name} add constraint ${name}_pkey primary key using index ${name}_pkey, replica identity default`;
}

function bareTableSql({ name: table, columns }: Table): string {
  const declared = Object.entries(columns).map(
    ([name, column]) => `${name} ${column.sql}${column.nullable ? "" : " not null"}`,
  );
  return `create table ${table} (${[...declared, "valid_from bigint not null", "valid_to bigint"].join(", ")}`;
}

/** An index, and the statement that makes it under any name. */
export type TableIndex = {
  readonly name: string;
  readonly create: (name: string) => string;
};

// PostgreSQL cuts names at 63 bytes without an error; room for a suffix while an index is replaced.
const NAME_BYTES_MAX = 59;
const NAME_HASH_DIGITS = 8;

/** Long names end in a hash, so that two never become one. */
function nameIndex(table: string, purpose: string, columns: readonly string[]): string {
  const name = `${table}_${purpose}_${columns.join("_")}`;
  if (name.length <= NAME_BYTES_MAX) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, NAME_HASH_DIGITS);
  return `${name.slice(0, NAME_BYTES_MAX - NAME_HASH_DIGITS - 1)}_${hash}`;
}

export const bornIndexName = ({ name }: Pick<Table, "name">): string => `${name}_born`;

/** The indexes that writing needs; it does without the primary key. */
export function writeIndexes({ name: table, key, history }: Table): TableIndex[] {
  const current = {
    name: `${table}_current`,
    create: (name: string) =>
      `create unique index ${name} on ${table} (${key.join(", ")}) where valid_to is null`,
  };
  // Versions of a `recent` table are deleted soon after they end.
  const ended = {
    name: `${table}_ended`,
    create: (name: string) => `create index ${name} on ${table} (valid_to) where valid_to is not null`,
  };
  return history === "recent" ? [current, ended] : [current];
}

/**
 * The indexes that reading and rollbacks need: final blocks are written without them. A list at a block is the current
 * rows that began by then, and the ended ones that were valid then: two indexes, each in the order of the list, that
 * pass rows of other blocks without visiting them.
 */
export function readIndexes({ name: table, indexes, currentIndexes }: Table): TableIndex[] {
  const listed = indexes.flatMap((columns) => {
    const listedBy = columns.join(", ");
    return [
      {
        name: nameIndex(table, "by", columns),
        create: (name: string) =>
          `create index ${name} on ${table} (${listedBy}, valid_from) where valid_to is null`,
      },
      {
        name: nameIndex(table, "past_by", columns),
        create: (name: string) =>
          `create index ${name} on ${table} (${listedBy}, valid_to, valid_from) where valid_to is not null`,
      },
    ];
  });
  const current = currentIndexes.map((columns) => ({
    name: nameIndex(table, "by", columns),
    create: (name: string) =>
      `create index ${name} on ${table} (${columns.join(", ")}) where valid_to is null`,
  }));
  // Rows arrive in block order, so a BRIN index finds those that a rollback deletes.
  const born = {
    name: bornIndexName({ name: table }),
    create: (name: string) =>
      `create index ${name} on ${table} using brin (valid_from) with (pages_per_range = 32)`,
  };
  return [...listed, ...current, born];
}

function copyRowsSql(table: Table): string {
  return `copy ${table.name} (${[...Object.keys(table.columns), ...VALIDITY].join(", ")}) from stdin (format binary)`;
}

/** The current rows for a list of keys, one array parameter per key column. */
function selectCurrentSql(table: Table): string {
  return `select t.* from ${keyListSql(table)} cross join lateral (${currentSql(table, "*")}) t`;
}

type NamedStatement = { readonly name: string; readonly text: string };

/**
 * Ends the current version of each key at its block. Each row is found by its key and changed at its physical position:
 * a plan without any choice, which may be kept while the table grows.
 */
function endVersions(table: Table): NamedStatement {
  const parameter = table.key.length + 1;
  const ends = `unnest(${keyParameters(table)}, $${parameter}::bigint[]) as k(${table.key.join(", ")}, ended)`;
  const found = `select c.ctid as position, k.ended from ${ends} cross join lateral (${currentSql(table, "ctid")}) c`;
  const text = `update ${table.name} t set valid_to = f.ended from (${found}) f where t.ctid = f.position`;
  return { name: `end ${table.name}`, text };
}

/** Deletes the current version of each key, for tables without history. */
function deleteCurrent(table: Table): NamedStatement {
  const positions = `array(select c.ctid from ${keyListSql(table)} cross join lateral (${currentSql(table, "ctid")}) c)`;
  return {
    name: `delete ${table.name}`,
    text: `delete from ${table.name} t where t.ctid = any(${positions})`,
  };
}

/**
 * For the transaction of a batch, whose statements find all they change by an index: a plan that is kept is made while
 * tables are small, when reading all of a table seems cheaper.
 */
export const USE_INDEXES: PipelineStep = { text: "set local enable_seqscan to off" };

/**
 * The current row of one key `k`. The limit is what the unique index guarantees, and keeps the planner from using a
 * join: without statistics for a table that grows by thousands of rows a second, it would read all current rows for
 * each batch.
 */
function currentSql(table: Table, columns: string): string {
  return `select c.${columns} from ${table.name} c where ${keyMatch(table, "c")} and c.valid_to is null limit 1`;
}

/** Deletes the versions that start after a block and returns their keys. */
function deleteVersionsAfterSql(table: Table): string {
  const keys = table.key.join(", ");
  return `with gone as (delete from ${table.name} where valid_from > $1 returning ${keys}, valid_from) select ${keys}, min(valid_from) as born from gone group by ${keys}`;
}

/** Reopens versions that ended at the block at which the deleted ones began. */
function reopenVersionsSql(table: Table): string {
  const parameter = table.key.length + 1;
  const list = `unnest(${keyParameters(table)}, $${parameter}::bigint[]) as k(${table.key.join(", ")}, born)`;
  return `update ${table.name} t set valid_to = null from ${list} where ${keyMatch(table, "t")} and t.valid_to = k.born`;
}

export function keyListSql(table: Table): string {
  return `unnest(${keyParameters(table)}) as k(${table.key.join(", ")})`;
}

function keyParameters(table: Table): string {
  return table.key.map((name, index) => `$${index + 1}::${arrayType(requireColumn(table, name))}`).join(", ");
}

function keyMatch(table: Table, row: string): string {
  return table.key.map((name) => `${row}.${name} = k.${name}`).join(" and ");
}

// A cast of a parameter needs neither a precision nor a collation.
export function arrayType(column: Column<unknown>): string {
  return `${bareType(column)}[]`;
}

const bareType = ({ sql }: Column<unknown>) => sql.replace(/[ (].*$/, "");

export function requireColumn(table: Table, name: string): Column<unknown> {
  const column = table.columns[name];
  if (!column) throw new Error(`${table.name} has no column ${name}`);
  return column;
}

/** Key columns are never null. */
export function requireKeyValue(table: Table, row: Row, name: string): NonNullable<unknown> {
  const value = row[name];
  if (value === null || value === undefined) throw new Error(`a key of ${table.name} has no ${name}`);
  return value;
}
