// Finds the hashes that indexed rows reference. Every 32-byte column may hold the hash of a document or schema.
import { isHashColumn } from "../../schema/column.ts";
import { PROVENANCE_COLUMNS, type Table } from "../../schema/table.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { Session } from "../../store/postgres/session.ts";

export type HashColumns = { readonly table: string; readonly columns: readonly string[] };

/** Derived from the table declarations, so that new columns are included. Provenance hashes reference no record. */
export function collectHashColumns(tables: readonly Table[]): readonly HashColumns[] {
  return tables.flatMap(({ name, columns }) => {
    const found = Object.entries(columns).filter(
      ([column, kind]) => isHashColumn(kind) && !(column in PROVENANCE_COLUMNS),
    );
    return found.length === 0 ? [] : [{ table: name, columns: found.map(([column]) => column) }];
  });
}

// Most of these columns have no index, so each table is scanned once for many hashes.
const STATEMENT_MS_MAX = 600_000;

/** Rows indexed after the scan began belong to blocks after `finalizedBlock`. */
export type ReferenceScan = { readonly referenced: ReadonlySet<string>; readonly finalizedBlock: string };

// Before the first block: an index without a checkpoint has no final block.
const NO_BLOCK = "-1";

/** Returns the hashes that any row version references, past ones included: they are readable too. */
export async function findReferencedHashes(
  database: Database,
  hashColumns: readonly HashColumns[],
  hashes: readonly string[],
): Promise<ReferenceScan> {
  return database.transaction(
    async (session) => {
      await session.query("set local max_parallel_workers_per_gather to 0");
      const { rows } = await session.query<{ finalized_block: string }>(
        "select finalized_block from checkpoint",
      );
      const finalizedBlock = rows[0]?.finalized_block ?? NO_BLOCK;
      return {
        referenced: await findReferencesAfter(session, hashColumns, { hashes, block: NO_BLOCK }),
        finalizedBlock,
      };
    },
    { access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}

/** The same for row versions that began after a block; uses the index on valid_from. */
export async function findReferencesAfter(
  session: Pick<Session, "query">,
  hashColumns: readonly HashColumns[],
  { hashes, block }: { readonly hashes: readonly string[]; readonly block: string },
): Promise<ReadonlySet<string>> {
  const referenced = new Set<string>();
  if (hashes.length === 0) return referenced;
  for (const { table, columns } of hashColumns) {
    const values = columns.map((column) => `(t.${column})`).join(", ");
    const { rows } = await session.query<{ hash: string }>({
      text: `select distinct v.hash from ${table} t cross join lateral (values ${values}) v (hash) where v.hash = any($1::text[]) and t.valid_from > $2`,
      values: [hashes, block],
    });
    for (const { hash } of rows) referenced.add(hash);
  }
  return referenced;
}
