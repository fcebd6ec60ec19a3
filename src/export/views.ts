// The SQL that turns exported versions into tables: the state at the last exported block, and at any earlier one.
import type { ExportColumn, ValueType } from "./export-table.ts";
import { VIEWS_NAME } from "./folder.ts";
import type { Manifest } from "./manifest.ts";

const DUCKDB_TYPES: Readonly<Record<ValueType, string>> = {
  boolean: "boolean",
  int32: "integer",
  int64: "bigint",
  timestamp: "timestamp",
  decimal: "varchar",
  hex: "varchar",
  text: "varchar",
  json: "varchar",
};

/** In the dialect of DuckDB. Names of tables and columns are ours, and need no quotes. */
export function formatViews({ tables, files, block, deployment }: Manifest): string {
  const last = block?.number ?? deployment.startBlock - 1;
  const withFiles = new Set(files.map(({ table }) => table));
  const views = tables.map(({ name, key, versioned, columns }) => {
    const rows = withFiles.has(name)
      ? `select * from read_parquet('${name}/*.parquet')`
      : selectNothing(columns);
    const number = versioned ? "valid_from" : (key[0] ?? "");
    const all = `${rows} where ${number} <= ${last}`;
    return versioned ? formatVersioned(name, key, all, last) : `create or replace view ${name} as ${all};\n`;
  });
  return [
    `-- Blocks ${deployment.startBlock} to ${last} of chain ${deployment.chainId}, written by \`sextant export\`. In this folder: duckdb -init ${VIEWS_NAME}`,
    "-- <table>: rows at the last block. <table>_at(N): rows at block N. <table>_versions: every version.",
    "",
    ...views,
  ].join("\n");
}

function formatVersioned(name: string, key: readonly string[], all: string, last: number): string {
  return [
    `create or replace view ${name}_versions as ${all};`,
    `create or replace macro ${name}_at(n) as table select * from ${name}_versions where valid_from <= n`,
    `  qualify row_number() over (partition by ${key.join(", ")} order by valid_from desc) = 1;`,
    `create or replace view ${name} as select * from ${name}_at(${last});`,
    "",
  ].join("\n");
}

/** A pattern that no file matches is an error. */
function selectNothing(columns: readonly ExportColumn[]): string {
  const empty = columns.map(({ name, type }) => `null::${DUCKDB_TYPES[type]} as ${name}`).join(", ");
  return `select * from (select ${empty} limit 0)`;
}
