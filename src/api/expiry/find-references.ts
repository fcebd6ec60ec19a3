// Which hashes the rows of the index refer to: every column that holds 32 bytes may name a document or a schema.
import { isHashColumn } from "../../schema/column.ts";
import { PROVENANCE_COLUMNS, type Table } from "../../schema/table.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { Session } from "../../store/postgres/session.ts";

export type HashColumns = { readonly table: string; readonly columns: readonly string[] };

/** From the declarations, so that a new column counts from the day it is declared. Hashes of transactions name nothing. */
export function collectHashColumns(tables: readonly Table[]): readonly HashColumns[] {
  return tables.flatMap(({ name, columns }) => {
    const found = Object.entries(columns).filter(
      ([column, kind]) => isHashColumn(kind) && !(column in PROVENANCE_COLUMNS),
    );
    return found.length === 0 ? [] : [{ table: name, columns: found.map(([column]) => column) }];
  });
}

// No index begins with most of these columns, so each table is read from end to end, once for many hashes.
const STATEMENT_MS_MAX = 600_000;

/** What a look found. A row that is indexed after it began is of a block after `finalizedBlock`. */
export type ReferenceScan = { readonly referenced: ReadonlySet<string>; readonly finalizedBlock: string };

// Before the first block: an index without a checkpoint has nothing that is final.
const NO_BLOCK = "-1";

/** Those of the hashes that a row refers to, now or in a version of the past: that can be read, too. */
export async function findReferencedHashes(
  database: Database,
  places: readonly HashColumns[],
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
        referenced: await findReferencesAfter(session, places, { hashes, block: NO_BLOCK }),
        finalizedBlock,
      };
    },
    { access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}

/** The same among the versions that began after a block, which an index finds. */
export async function findReferencesAfter(
  session: Pick<Session, "query">,
  places: readonly HashColumns[],
  { hashes, block }: { readonly hashes: readonly string[]; readonly block: string },
): Promise<ReadonlySet<string>> {
  const referred = new Set<string>();
  if (hashes.length === 0) return referred;
  for (const { table, columns } of places) {
    const values = columns.map((column) => `(t.${column})`).join(", ");
    const { rows } = await session.query<{ hash: string }>({
      text: `select distinct v.hash from ${table} t cross join lateral (values ${values}) v (hash) where v.hash = any($1::text[]) and t.valid_from > $2`,
      values: [hashes, block],
    });
    for (const { hash } of rows) referred.add(hash);
  }
  return referred;
}
