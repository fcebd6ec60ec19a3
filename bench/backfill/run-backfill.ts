// A history is served and filled into a database, each by a process of its own: what a backfill is measured by.
import { formatGrouped } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { ReplayNodeReady, ReplayNodeTask } from "../history/replay-node-child.ts";
import type { BackfillReport, BackfillTask } from "./backfill-child.ts";

type RunningReplayNode = { readonly node: ReplayNodeReady; stop(): Promise<void> };

export async function startReplayNodeChild(
  start: StartChild,
  task: ReplayNodeTask,
): Promise<RunningReplayNode> {
  const child = start("node", "history/replay-node-child.ts", task);
  const node = await child.next<ReplayNodeReady>();
  logProgress(
    `the node serves ${formatGrouped(node.events)} events, ${formatGrouped(node.bytes / 2 ** 20)} MiB`,
  );
  return { node, stop: () => child.stop() };
}

export async function runBackfill(
  start: StartChild,
  task: BackfillTask,
  nodeOptions: readonly string[] = [],
): Promise<BackfillReport> {
  const child = start("backfill", "backfill/backfill-child.ts", task, nodeOptions);
  const report = await child.next<BackfillReport>();
  await child.stop();
  return report;
}
