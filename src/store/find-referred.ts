// Which hashes the rows of the index refer to: every column that holds 32 bytes may name a document or a schema.
import { holdsHash } from "../schema/column.ts";
import { PROVENANCE, type Table } from "../schema/table.ts";
import type { Database } from "./database.ts";

export type HashColumns = { readonly table: string; readonly columns: readonly string[] };

/** From the declarations, so that a new column counts from the day it is declared. Hashes of transactions name nothing. */
export function hashColumnsOf(tables: readonly Table[]): readonly HashColumns[] {
  return tables.flatMap(({ name, columns }) => {
    const found = Object.entries(columns).filter(
      ([column, kind]) => holdsHash(kind) && !(column in PROVENANCE),
    );
    return found.length === 0 ? [] : [{ table: name, columns: found.map(([column]) => column) }];
  });
}

// No index begins with most of these columns, so each table is read from end to end, once for many hashes.
const STATEMENT_MS_MAX = 600_000;

/** Those of the hashes that a row refers to, now or in a version of the past: that can be read, too. */
export async function findReferred(
  database: Database,
  places: readonly HashColumns[],
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  return database.transaction(
    async (session) => {
      await session.query("set local max_parallel_workers_per_gather to 0");
      const referred = new Set<string>();
      for (const { table, columns } of places) {
        const values = columns.map((column) => `(t.${column})`).join(", ");
        const { rows } = await session.query<{ hash: string }>({
          text: `select distinct v.hash from ${table} t cross join lateral (values ${values}) v (hash) where v.hash = any($1::text[])`,
          values: [hashes],
        });
        for (const { hash } of rows) referred.add(hash);
      }
      return referred;
    },
    { access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}
