// A history is served and filled into a database, each by a process of its own: what a backfill is measured by.
import { grouped } from "../harness/measurement.ts";
import { tell } from "../harness/progress.ts";
import type { Start } from "../harness/with-children.ts";
import type { ReplayNodeReady, ReplayNodeTask } from "../history/replay-node-child.ts";
import type { BackfillReport, BackfillTask } from "./backfill-child.ts";

export type ServingNode = { readonly node: ReplayNodeReady; stop(): Promise<void> };

export async function startNode(start: Start, task: ReplayNodeTask): Promise<ServingNode> {
  const child = start("node", "history/replay-node-child.ts", task);
  const node = await child.next<ReplayNodeReady>();
  tell(`the node serves ${grouped(node.events)} events, ${grouped(node.bytes / 2 ** 20)} MiB`);
  return { node, stop: () => child.stop() };
}

export async function fill(
  start: Start,
  task: BackfillTask,
  nodeOptions: readonly string[] = [],
): Promise<BackfillReport> {
  const child = start("backfill", "backfill/backfill-child.ts", task, nodeOptions);
  const report = await child.next<BackfillReport>();
  await child.stop();
  return report;
}
