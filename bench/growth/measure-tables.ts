// Measures an index and its upkeep: bytes of each table, a vacuum, and the rollback of a reorg.
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import { openIndexStore } from "../../src/store/index/store.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import type { Database } from "../../src/store/postgres/database.ts";

export type TableBytes = {
  readonly name: string;
  readonly heap: number;
  readonly indexes: number;
  readonly toast: number;
};

export async function measureTableBytes(database: Database): Promise<TableBytes[]> {
  const { rows } = await database.query<{ name: string; heap: string; indexes: string; toast: string }>({
    text: `select c.relname as name, pg_relation_size(c.oid) as heap, pg_indexes_size(c.oid) as indexes,
        coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) as toast
      from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'r'
      order by pg_total_relation_size(c.oid) desc`,
    values: [database.schema],
  });
  return rows.map(({ name, heap, indexes, toast }) => ({
    name,
    heap: Number(heap),
    indexes: Number(indexes),
    toast: Number(toast),
  }));
}

/** A vacuum after the writes, and one right after it, which is what every vacuum costs at least. */
export type VacuumedTable = { readonly name: string; readonly ms: number; readonly againMs: number };

export async function measureVacuum(database: Database, names: readonly string[]): Promise<VacuumedTable[]> {
  const client = await database.connect("vacuum", { statementTimeoutMs: 0 });
  const vacuum = async (name: string) => {
    const startedMs = performance.now();
    await client.query(`vacuum (analyze) ${name}`);
    return performance.now() - startedMs;
  };
  try {
    const measured: VacuumedTable[] = [];
    for (const name of names) measured.push({ name, ms: await vacuum(name), againMs: await vacuum(name) });
    return measured;
  } finally {
    await client.end();
  }
}

/** Undoes every block that is not final; null if all are. */
export async function measureRollback(
  database: Database,
): Promise<{ readonly blocks: number; readonly ms: number } | null> {
  const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 10_000 });
  if (!lock) throw new Error("another process indexes this database");
  try {
    const store = openIndexStore(database, lock, rowDeclaration.tables);
    const checkpoint = await store.readCheckpoint();
    if (!checkpoint || checkpoint.finalized >= checkpoint.block.number) return null;
    const [to] = await store.readBlocksDescending(checkpoint.finalized, 1);
    if (!to) throw new Error(`block ${checkpoint.finalized} is not stored`);
    const startedMs = performance.now();
    await store.rollback(to);
    return { blocks: checkpoint.block.number - to.number, ms: performance.now() - startedMs };
  } finally {
    await lock.release();
  }
}
