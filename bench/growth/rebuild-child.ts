// A rebuild of all rows as a process of its own, so that its memory and time are its own.
import { createRebuildOptions } from "../../src/indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { rebuildRows } from "../../src/store/index/rebuild.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { historyChain } from "../history/history.ts";

export type RebuildTask = BenchDatabaseTarget & { readonly seed: number };

export type RebuildReport = { readonly logs: number; readonly ms: number; readonly rssBytesMax: number };

const task = JSON.parse(process.argv[2] ?? "") as RebuildTask;
const database = await openBenchDatabase(task);
const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 10_000, bulkWrites: true });
if (!lock) throw new Error("another process indexes this database");
const progress = createProgressReporter();
const { deployment } = historyChain(task.seed);
const { signal } = new AbortController();
const startedMs = performance.now();
const logs = await rebuildRows(lock, {
  ...createRebuildOptions(deployment, { schema: task.schema, log: benchLog, signal }),
  onProgress: ({ logs: folded }) => progress(() => `${folded} events folded again`),
});
const report: RebuildReport = {
  logs,
  ms: performance.now() - startedMs,
  rssBytesMax: process.resourceUsage().maxRSS * 1024,
};
await lock.release();
await database.close();
sendToParent(report);
