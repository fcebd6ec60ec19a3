// Lets an index grow to a number of events from wherever it is: a node that makes its history, and an indexer that reads it.
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import type { BackfillReport, BackfillTask } from "../backfill/backfill-child.ts";
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { formatGrouped } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { ReplayNodeReady, ReplayNodeTask } from "../history/replay-node-child.ts";

type GrowthTask = {
  readonly seed: number;
  /** The seed of the whole history, whose mix of actions depends on it. */
  readonly events: number;
  /** The number of events at which to stop this time. */
  readonly until: number;
};

/** The work of an indexer; `from` is above that of the stage if an earlier run was cut. */
export type GrowthReport = Omit<BackfillReport, "events" | "batches" | "marks"> & {
  readonly from: number;
  readonly to: number;
};

export async function growIndex(
  start: StartChild,
  place: BenchDatabaseTarget,
  { seed, events, until }: GrowthTask,
): Promise<GrowthReport> {
  const before = await readPosition(place);
  logProgress(`the index grows from ${formatGrouped(before.events)} to ${formatGrouped(until)} events`);
  const nodeTask: ReplayNodeTask = { seed, events, growing: { fromBlock: before.block, until } };
  const node = start("node", "history/replay-node-child.ts", nodeTask);
  const { url } = await node.next<ReplayNodeReady>();
  const task: BackfillTask = { ...place, url, seed, events: until - before.events, head: null };
  const indexer = start("indexer", "backfill/backfill-child.ts", task);
  const { events: added, ms, cpuMs, rssBytesMax, startMs, live } = await indexer.next<BackfillReport>();
  await indexer.stop();
  await node.stop();
  return { from: before.events, to: before.events + added, ms, cpuMs, rssBytesMax, startMs, live };
}

/** The state of an index that may not exist yet. */
async function readPosition(place: BenchDatabaseTarget): Promise<{ events: number; block: number }> {
  const database = await openBenchDatabase(place);
  try {
    const checkpoint = await readCheckpoint(database);
    const { rows } = await database.query<{ events: string }>(
      "select coalesce(sum(log_count), 0) as events from blocks",
    );
    return { events: Number(rows[0]?.events), block: checkpoint?.block.number ?? 0 };
  } finally {
    await database.close();
  }
}
