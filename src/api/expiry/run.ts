// Expiry in the background of an API: one process at a time, while the index is whole.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Table } from "../../schema/table.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { expireRecords } from "./expire-records.ts";
import { collectHashColumns } from "./find-references.ts";

export type ExpiryJobOptions = {
  readonly database: Database;
  readonly tables: readonly Table[];
  readonly unreferredDays: number;
  readonly storedBytesMax: number;
  /** What a rebuild or a backfill has not reached yet refers to nothing: meanwhile nothing expires. */
  readonly isIndexReady: () => Promise<boolean>;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

// Records are looked up once a day each: every ten minutes a part of them is due.
const PASS_EVERY_MS = 600_000;
// Time to raise the limit, or to find out who writes so much, before writes are rejected.
const FULL_SHARE = 0.8;

/** Runs until `signal`. */
export async function runExpiryLoop(job: ExpiryJobOptions): Promise<void> {
  const { log, signal, clock = systemClock } = job;
  while (!signal.aborted) {
    await clock.sleep(PASS_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    await runExpiryPass(job).catch((err) => log.warn({ err }, "Expiry failed and runs again later"));
  }
}

/** One pass; null where the index is not whole, or another process is at it. */
export async function runExpiryPass(job: ExpiryJobOptions): Promise<number | null> {
  const { database, tables, unreferredDays, log, signal } = job;
  await warnWhenFull(job);
  if (!(await job.isIndexReady())) return null;
  const lock = await acquireLock(database, "expiry", { waitMs: 0 });
  if (!lock) return null;
  try {
    const deleted = await expireRecords(database, {
      hashColumns: collectHashColumns(tables),
      unreferencedDays: unreferredDays,
      signal,
    });
    if (deleted > 0) log.info({ deleted }, "Records that no indexed row refers to were deleted");
    return deleted;
  } finally {
    await lock.release();
  }
}

async function warnWhenFull({ database, storedBytesMax, log }: ExpiryJobOptions): Promise<void> {
  if (storedBytesMax === 0) return;
  const { rows } = await database.query<{ bytes: string }>("select bytes from stored_total");
  const bytes = Number(rows[0]?.bytes ?? 0);
  if (bytes < storedBytesMax * FULL_SHARE) return;
  log.warn({ bytes, bytesMax: storedBytesMax }, "The storage for what people write is nearly full");
}
