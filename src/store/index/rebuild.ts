// Rebuilds row tables from the stored logs, without a node; the old tables serve reads until both are swapped.
import { Fault } from "../../lib/fault.ts";
import type { LogWithDetails } from "../../schema/chain-log.ts";
import type { Table } from "../../schema/table.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import { buildChangeNotification } from "../postgres/change-notifications.ts";
import { runWithLockTimeout } from "../postgres/lock-timeout.ts";
import { toRebuildSchema } from "../postgres/schema-name.ts";
import type { Session } from "../postgres/session.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { readStoredLogs } from "./raw-logs.ts";
import { RowCache } from "./row-cache.ts";
import {
  addPrimaryKey,
  createBareRowTables,
  createReadIndexes,
  type RowDeclaration,
  readRowTableNames,
  recordRowTables,
} from "./row-tables.ts";
import type { RowVersions } from "./row-versions.ts";
import { type ChangeRows, writeRows } from "./store.ts";

export type RebuildOptions = {
  readonly schema: string;
  readonly declaration: RowDeclaration;
  readonly fold: (logs: readonly LogWithDetails[], rows: RowVersions) => Promise<void>;
  readonly signal: AbortSignal;
  /** Called after each part. */
  readonly onProgress: (progress: {
    readonly block: number;
    readonly toBlock: number;
    readonly logs: number;
  }) => void;
};

// Bounds memory for any length of history; larger parts gain nothing.
const LOGS_PER_PART = 6_000;
/** For one statement over all rows. */
export const REBUILD_STATEMENT_MS_MAX = 3_600_000;

/** Readers see the old rows until all new ones are ready. Returns the number of logs folded. */
export async function rebuildRows(lock: Lock, options: RebuildOptions): Promise<number> {
  const { schema, declaration } = options;
  const shadow = toRebuildSchema(schema);
  const shadowed =
    <T>(work: (session: Session) => Promise<T>) =>
    async (session: Session) => {
      await session.query(`set local search_path to ${shadow}, ${schema}`);
      return work(session);
    };
  const limits = { statementTimeoutMs: REBUILD_STATEMENT_MS_MAX };
  const inShadow = <T>(work: (session: Session) => Promise<T>) => lock.transaction(shadowed(work), limits);

  await lock.transaction(async (session) => {
    // An interrupted rebuild leaves its shadow schema behind.
    await assertOwnWork(session, shadow, schema);
    await session.query(`drop schema if exists ${shadow} cascade`);
    await session.query(`create schema ${shadow}`);
  });
  await inShadow((session) => createBareRowTables(session, declaration.tables));
  const checkpoint = await inShadow(readCheckpoint);
  const logs = checkpoint ? await refold(checkpoint, options, inShadow) : 0;
  for (const table of declaration.tables) {
    options.signal.throwIfAborted();
    await inShadow(async (session) => {
      await createReadIndexes(session, table);
      await addPrimaryKey(session, table);
    });
  }
  const replace = shadowed(async (session) => {
    await swap(session, declaration.tables, schema, shadow);
    await recordRowTables(session, declaration);
    // Other rows at the same block are another state; the trigger counts it.
    await session.query("update checkpoint set revision = revision");
    await session.query(buildChangeNotification(schema));
  });
  // Retry without limit: otherwise the whole rebuild would be lost.
  const retries = { attemptsMax: Number.POSITIVE_INFINITY, signal: options.signal };
  await runWithLockTimeout(lock, replace, { ...limits, ...retries });
  return logs;
}

/** An installation of an earlier version may have its ledger in a schema of this name. */
async function assertOwnWork(session: Session, shadow: string, schema: string): Promise<void> {
  // A rebuild makes tables of row versions and their indexes, and nothing else, in every version.
  const { rows } = await session.query<{ name: string }>({
    text: `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = $1 and c.relkind not in ('i', 'I') and not (c.relkind = 'r' and 2 = (
             select count(*) from pg_attribute a where a.attrelid = c.oid and a.attname in ('valid_from', 'valid_to')))
           order by 1 limit 1`,
    values: [shadow],
  });
  const [other] = rows;
  if (!other) return;
  throw new Fault(
    "DATABASE_INCOMPATIBLE",
    `The rows of the schema ${schema} are rebuilt in ${shadow}, but there is ${shadow}.${other.name}, which no rebuild makes: it belongs to another installation. Rename that schema (ALTER SCHEMA ${shadow} RENAME TO …) and set its DATABASE_SCHEMA to the new name.`,
  );
}

async function refold(
  checkpoint: Checkpoint,
  options: RebuildOptions,
  inShadow: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
): Promise<number> {
  const toBlock = checkpoint.block.number;
  // Final blocks first and separately: tables with `recent` history store no versions of those.
  const parts = [
    { after: -1, to: checkpoint.finalized },
    { after: checkpoint.finalized, to: toBlock },
  ];
  let folded = 0;
  // A transaction that fails ends the rebuild, and the cache with it.
  const cache = new RowCache();
  for (const { after, to } of parts) {
    for (let afterBlock = after; ; ) {
      options.signal.throwIfAborted();
      const part = await inShadow(async (session) => {
        const logs = await readStoredLogs(session, { afterBlock, toBlock: to, logsMax: LOGS_PER_PART });
        const last = logs.at(-1)?.log;
        if (!last) return null;
        const tip = { number: last.blockNumber, hash: last.blockHash, timestamp: last.blockTimestamp };
        const changeRows: ChangeRows = (rows) => options.fold(logs, rows);
        await writeRows(session, { tip, finalized: checkpoint.finalized }, changeRows, cache);
        return { block: last.blockNumber, logs: logs.length };
      });
      if (part === null) break;
      afterBlock = part.block;
      folded += part.logs;
      options.onProgress({ block: part.block, toBlock, logs: folded });
    }
  }
  return folded;
}

async function swap(
  session: Session,
  tables: readonly Table[],
  schema: string,
  shadow: string,
): Promise<void> {
  // Every read locks the checkpoint first, then its tables in its own order. Locking table by table would deadlock with
  // reads, and PostgreSQL would cancel one of the two.
  await session.query(`lock table ${schema}.checkpoint in access exclusive mode`);
  for (const name of await readRowTableNames(session))
    await session.query(`drop table if exists ${schema}.${name}`);
  for (const { name } of tables) await session.query(`alter table ${shadow}.${name} set schema ${schema}`);
  await session.query(`drop schema ${shadow}`);
}
