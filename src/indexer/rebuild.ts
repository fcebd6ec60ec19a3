// What a rebuild of the rows needs, for the indexer and the commands that start one.
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { rowDeclaration } from "../protocol/domains.ts";
import { createFold } from "../protocol/fold.ts";
import type { RebuildOptions } from "../store/index/rebuild.ts";

// A large rebuild takes minutes.
const PROGRESS_MS = 2_000;

export function createRebuildOptions(
  deployment: Deployment,
  { schema, log, signal }: { readonly schema: string; readonly log: Log; readonly signal: AbortSignal },
): RebuildOptions {
  let loggedMs = systemClock.nowMs();
  return {
    schema,
    declaration: rowDeclaration,
    fold: createFold(deployment),
    signal,
    onProgress: ({ block, toBlock, logs }) => {
      if (systemClock.nowMs() - loggedMs < PROGRESS_MS) return;
      loggedMs = systemClock.nowMs();
      log.info({ event: "rebuild-progress", block, toBlock, logs }, "Rebuilding rows");
    },
  };
}
