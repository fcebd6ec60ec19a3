// The indexer as a process of its own, so that its memory and time are its own: backfills a history and leaves.
//
// Its processor time for 100,000 events, by `--profile` and by thread, on two busy cores with Node 20. A third is spent by
// V8's helper threads: half of that collects garbage, half compiles, which is 2 s however many events follow. The rest is
// the main thread's, without the loading of modules:
//
//   collecting garbage      17 %   17 kB an event; a third of what is new survives, because a batch keeps it
//   HTTP and JSON           15 %   4 % is JSON.parse
//   encoding for COPY       12 %   half of it is hex
//   folding                 11 %
//   versions                10 %   half of it finds rows by the texts of their keys
//   sending to PostgreSQL    8 %
//   details                  5 %
//   checking logs            4 %
//   decoding                 4 %
//   adding to rollups        3 %
//   packing logs             3 %
//   blooms and headers       3 %
//
// Tried without a gain: reading only 1,000 logs ahead (as many collections, as much that survives), and no parallel
// scavenges. Node's `--single-threaded-gc` takes 1 to 2 s off the helper threads for 60,000 events, but is an option of
// the command line only: V8 ends a process that switches concurrent marking off while it runs. The time of compiling is
// from before `delayOptimization`.
import { runIndexer } from "../../src/indexer/run.ts";
import { Secret } from "../../src/lib/secret.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { historyChain } from "../history/history.ts";

export type BackfillTask = BenchDatabaseTarget & {
  readonly url: string;
  readonly seed: number;
  readonly events: number;
  /** The last block; null to follow the node until it has no more. */
  readonly head: number | null;
};

export type BackfillReport = {
  readonly events: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssBytesMax: number;
  readonly batches: number;
  /** The time from the start of the process's work to its first block of history. */
  readonly startMs: number;
  /** Blocks that were not final, and what all of them took. */
  readonly live: { readonly blocks: number; readonly ms: number };
  readonly marks: readonly BackfillMark[];
};

/** After each batch: how many events are in, what that took since the beginning, and the memory in use. */
export type BackfillMark = {
  readonly events: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
};

// The default of SEXTANT_LOG_RANGE_MAX.
const LOG_RANGE_MAX = 10_000;

const task = JSON.parse(process.argv[2] ?? "") as BackfillTask;
const database = await openBenchDatabase(task);
const done = new AbortController();
const progress = createProgressReporter();
const nothing = () => undefined;
const marks: BackfillMark[] = [];
const openedMs = performance.now();
let startedMs = 0;
let startMs = 0;
let startedCpu = process.cpuUsage();
let events = 0;
let live = { blocks: 0, ms: 0 };
let batches = 0;
let isComplete = false;
const atWorkMs = () => marks.at(-1)?.ms ?? 0;
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage(startedCpu);
  return (user + system) / 1000;
};

function markProgress(): void {
  const rssBytes = process.memoryUsage.rss();
  marks.push({ events, ms: performance.now() - startedMs, cpuMs: cpuMs(), rssBytes });
}

await runIndexer({
  database,
  deployment: historyChain(task.seed).deployment,
  urls: [new Secret(task.url)],
  logRangeMax: LOG_RANGE_MAX,
  // There is one node.
  comparedPercent: 0,
  auditMs: 0,
  log: benchLog,
  stop: done.signal,
  onCall: nothing,
  report: {
    report: () => ({}),
    onStandby: nothing,
    onLeading: nothing,
    onTableIndex: nothing,
    // The indexes of reads are made before the head is followed: they are part of a backfill.
    onHead: () => markProgress(),
    onSynced() {
      if (task.head === null || isComplete) done.abort();
    },
    onRollback: nothing,
    onAudited: nothing,
    onNotCompared: nothing,
    onAuditFailed: nothing,
    onUnconfirmedChange: nothing,
    onBackfillStart() {
      if (startMs === 0) {
        startMs = performance.now() - openedMs;
        startedCpu = process.cpuUsage();
      }
      // A node that makes its history as it is read lets the indexer wait between two parts: that is not its work.
      startedMs = performance.now() - atWorkMs();
    },
    onBatchWritten({ tip, logs, blocks, ms }, phase) {
      events += logs;
      if (phase === "live") {
        live = { blocks: live.blocks + blocks, ms: live.ms + ms };
        return;
      }
      batches += 1;
      markProgress();
      progress(() => `${events} of ${task.events} events`);
      isComplete = tip.number === task.head;
    },
    onFailure(error) {
      done.abort();
      throw error;
    },
  },
});
const report: BackfillReport = {
  events,
  ms: atWorkMs(),
  cpuMs: marks.at(-1)?.cpuMs ?? 0,
  rssBytesMax: process.resourceUsage().maxRSS * 1024,
  batches,
  startMs,
  live,
  marks,
};
await database.close();
sendToParent(report);
