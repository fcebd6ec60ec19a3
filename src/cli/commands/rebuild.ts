// `sextant rebuild`: rebuilds every row from the stored logs. Needs a node only to read logs again (--reread).
import { createRpc } from "../../chain/rpc/client.ts";
import { verifyDeployment } from "../../chain/verify-deployment.ts";
import { indexerSettings, splitRpcUrls } from "../../config/indexing-settings.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import {
  createRebuildOptions,
  parseRereadRange,
  type RereadOptions,
  rereadLogs,
} from "../../indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../indexer/run.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { delayOptimization } from "../../lib/optimization.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import { rowDeclaration } from "../../protocol/domains.ts";
import { claimSchema } from "../../store/index/prepare.ts";
import { type RebuildOptions, rebuildRows } from "../../store/index/rebuild.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { acquireLock, type Lock } from "../../store/postgres/advisory-lock.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import type { ProgressLine } from "../display/progress.ts";
import { assertNodes, chooseDeployment } from "../installation.ts";

// An indexer shuts down within ten seconds; waiting a little longer spares the operator a retry.
const LOCK_MS_MAX = 15_000;

export const rebuildCommand: RunCommand = async (context) => {
  const { environment, options, log, stop, print, progress } = context;
  const reread = readStringOption(options, "reread");
  const range = reread === undefined ? null : parseRereadRange(reread);
  const chosen = await chooseDeployment({ environment, options });
  if (range) assertNodes([chosen]);
  const { deployment, databaseSchema, rpcUrls } = chosen;
  const config = readConfig(environment, { ...databaseSettings, ...indexerSettings });
  const { database, close } = await openConfiguredDatabase({ ...config, databaseSchema }, log, "rebuild");
  try {
    const lock = await acquireLock(database, INDEXER_LOCK, {
      waitMs: LOCK_MS_MAX,
      signal: stop,
      bulkWrites: true,
      takeOver: true,
    });
    if (!lock) throw new Fault("DATABASE_BUSY", "An indexer writes to this schema; stop it, then retry.");
    try {
      await lock.transaction((session) => claimSchema(session, deployment));
      if (range) {
        const reading = { ...config, rpcUrls };
        const logs = await rereadRange(lock, { range, deployment, config: reading, context });
        print(`Read ${logs.toLocaleString("en")} events of blocks ${range.from} to ${range.to} again.\n`);
      }
      delayOptimization();
      const startedMs = systemClock.nowMs();
      const { schema } = database;
      const onProgress = trackRebuild(progress, deployment);
      const settings = { schema, log, signal: stop, onProgress };
      const logs = await rebuildRows(lock, createRebuildOptions(deployment, settings));
      progress?.show("");
      const seconds = ((systemClock.nowMs() - startedMs) / 1000).toFixed(1);
      print(
        `Rebuilt ${rowDeclaration.tables.length} tables from ${logs.toLocaleString("en")} stored events in ${seconds} s.\n`,
      );
    } finally {
      await lock.release();
    }
  } finally {
    await close();
  }
  return 0;
};

/** Undefined without a terminal. */
export function trackRebuild(
  progress: ProgressLine | undefined,
  { startBlock }: Pick<Deployment, "startBlock">,
): RebuildOptions["onProgress"] | undefined {
  return (
    progress &&
    (({ block, toBlock }) => {
      const [done, total] = [block - startBlock + 1, toBlock - startBlock + 1];
      progress.track("Rebuilding rows", { done, total, unit: "blocks" });
    })
  );
}

async function rereadRange(
  lock: Lock,
  options: {
    readonly range: RereadOptions["range"];
    readonly deployment: Deployment;
    readonly config: Config<typeof indexerSettings>;
    readonly context: CommandContext;
  },
): Promise<number> {
  const { range, deployment, config, context } = options;
  const { log, stop: signal, progress } = context;
  const { http: urls } = splitRpcUrls(config.rpcUrls);
  const rpc = createRpc({ urls, chainId: deployment.chainId, log, onCall: null });
  try {
    await verifyDeployment(rpc, deployment, { signal });
    const total = range.to - range.from + 1;
    const onStore = (toBlock: number) =>
      progress?.track("Reading logs again", { done: toBlock - range.from + 1, total, unit: "blocks" });
    return await rereadLogs(lock, { rpc, deployment, range, rangeMax: config.logRangeMax, onStore, signal });
  } finally {
    rpc.close();
  }
}
