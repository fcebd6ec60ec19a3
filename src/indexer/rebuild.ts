// Progress log of a rebuild: a line every few seconds, because a large one takes minutes.
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { RebuildOptions } from "../store/index/rebuild.ts";

const PROGRESS_MS = 2_000;

export function createRebuildProgress(log: Log, clock: Clock): RebuildOptions["onProgress"] {
  let loggedMs = clock.nowMs();
  return ({ block, toBlock, logs }) => {
    if (clock.nowMs() - loggedMs < PROGRESS_MS) return;
    loggedMs = clock.nowMs();
    log.info({ event: "rebuild-progress", block, toBlock, logs }, "Rebuilding rows");
  };
}
