// Damages indexed rows by SQL and restores them afterwards.
import { tables } from "../../../src/protocol/domains.ts";
import type { Column } from "../../../src/schema/column.ts";
import { formatKey, PROVENANCE_COLUMNS, type Row, type Table } from "../../../src/schema/table.ts";
import { decodeStoredRow } from "../../../src/store/index/versioned-rows.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

export function findTable(name: string): Table {
  const found = tables.find((table) => table.name === name);
  if (!found) throw new Error(`there is no table ${name}`);
  return found;
}

/** Columns outside the key and the provenance. */
export function corruptibleColumns(table: Table): string[] {
  const key: readonly string[] = table.key;
  return Object.keys(table.columns).filter((name) => !key.includes(name) && !(name in PROVENANCE_COLUMNS));
}

/** The current row in the middle of a table, in key order. */
export async function pickRow(database: Database, table: Table, where = "true"): Promise<Row> {
  const { rows } = await database.query<Record<string, NonNullable<unknown> | null>>(
    `select * from ${table.name} where valid_to is null and ${where} order by ${table.key.join(", ")}`,
  );
  const row = rows[Math.floor(rows.length / 2)];
  if (!row) throw new Error(`${table.name} has no row where ${where}`);
  return decodeStoredRow(table, row);
}

/** Changes columns of a current row while `work` runs. */
export async function withCorruptRow<T>(
  database: Database,
  table: Table,
  row: Row,
  columns: readonly string[],
  work: (key: string) => Promise<T>,
): Promise<T> {
  const write = (values: Row) =>
    database.query({
      text: `update ${table.name} set ${columns.map((name, index) => `${name} = $${index + 1}`).join(", ")}
        where valid_to is null and ${table.key.map((name, index) => `${name} = $${columns.length + index + 1}`).join(" and ")}`,
      values: [...columns, ...table.key].map((name) => sqlOf(table, name, values[name])),
    });
  const damaged = columns.map(
    (name, place) => [name, another(table.columns[name], row[name], BigInt(place + 1))] as const,
  );
  await write({ ...row, ...Object.fromEntries(damaged) });
  try {
    return await work(formatKey(table.key, row));
  } finally {
    await write(row);
  }
}

function sqlOf(table: Table, name: string, value: unknown): string | null {
  return value === null || value === undefined ? null : (table.columns[name]?.toSql(value) ?? null);
}

/** An unused value of the same kind; numbers change by different steps, so that every sum changes. */
function another(column: Column<unknown> | undefined, value: unknown, step: bigint): unknown {
  if (value === null || value === undefined) return ofKind(column?.sql ?? "");
  if (typeof value === "boolean") return !value;
  if (typeof value === "bigint") return value + step * 1_000_000n;
  if (typeof value === "number") return value + 1;
  const text = String(value);
  if (!/^0x[0-9a-f]+$/.test(text)) return `${text}!`;
  return text.slice(0, -1) + (text.endsWith("f") ? "0" : "f");
}

function ofKind(sql: string): unknown {
  if (sql === "boolean") return true;
  return sql === "bytea" || sql.startsWith("text") ? "0x01" : 1_000_000n;
}
