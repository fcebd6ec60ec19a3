// A rebuild tells how far it is: now and then, because a large one takes minutes.
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { RebuildOptions } from "../store/index/rebuild.ts";

const PROGRESS_MS = 2_000;

export function createRebuildProgress(log: Log, clock: Clock): RebuildOptions["onProgress"] {
  let toldMs = clock.nowMs();
  return ({ block, toBlock, logs }) => {
    if (clock.nowMs() - toldMs < PROGRESS_MS) return;
    toldMs = clock.nowMs();
    log.info(`Rebuilding: block ${block} of ${toBlock}, ${logs.toLocaleString("en")} events`);
  };
}
