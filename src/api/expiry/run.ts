// Background expiry: one process at a time, and only while the index is complete.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Table } from "../../schema/table.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { collectHashColumns, expireRecords } from "./expire-records.ts";

type ExpiryJobOptions = {
  readonly database: Database;
  readonly tables: readonly Table[];
  readonly unreferredDays: number;
  readonly storedBytesMax: number;
  /** During a rebuild or backfill references are missing, so nothing may expire. */
  readonly isIndexReady: () => Promise<boolean>;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

// Each record is checked once a day; every ten minutes some are due.
const PASS_EVERY_MS = 600_000;
// Leaves time to raise the limit or to find the heavy writer before writes are rejected.
const NEARLY_FULL_RATIO = 0.8;

/** Runs until `signal` aborts. */
export async function runExpiryLoop(job: ExpiryJobOptions): Promise<void> {
  const { log, signal, clock = systemClock } = job;
  while (!signal.aborted) {
    await clock.sleep(PASS_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    await runExpiryPass(job).catch((err) =>
      log.warn({ component: "api", event: "expiry_failed", err }, "Expiry failed, retrying at the next pass"),
    );
  }
}

/** Runs one pass. Returns null if the index is incomplete or another process runs one. */
export async function runExpiryPass(job: ExpiryJobOptions): Promise<number | null> {
  const { database, tables, unreferredDays, log, signal } = job;
  await warnIfNearlyFull(job);
  if (!(await job.isIndexReady())) return null;
  const lock = await acquireLock(database, "expiry", { waitMs: 0 });
  if (!lock) return null;
  try {
    const deleted = await expireRecords(database, {
      hashColumns: collectHashColumns(tables),
      unreferencedDays: unreferredDays,
      signal,
    });
    if (deleted > 0) {
      log.info({ component: "api", event: "records_expired", deleted }, "Deleted unreferenced records");
    }
    return deleted;
  } finally {
    await lock.release();
  }
}

async function warnIfNearlyFull({ database, storedBytesMax, log }: ExpiryJobOptions): Promise<void> {
  if (storedBytesMax === 0) return;
  const { rows } = await database.query<{ bytes: string }>("select bytes from stored_total");
  const bytes = Number(rows[0]?.bytes ?? 0);
  if (bytes < storedBytesMax * NEARLY_FULL_RATIO) return;
  log.warn(
    { component: "api", event: "storage_nearly_full", bytes, bytesMax: storedBytesMax },
    "Record storage is nearly full",
  );
}
