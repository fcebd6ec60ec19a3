// `sextant rebuild`: makes every row again from the stored logs, without a node.
import { systemClock } from "../kit/clock.ts";
import { readConfig } from "../kit/config.ts";
import { Fault } from "../kit/fault.ts";
import { FOLD_VERSION, tables } from "../protocol/domains.ts";
import { createProtocol } from "../protocol/fold.ts";
import { acquireLock } from "../store/lock.ts";
import { claimSchema } from "../store/prepare-index.ts";
import { rebuildRows } from "../store/rebuild.ts";
import type { RunCommand } from "./command.ts";
import { openConfiguredDatabase } from "./open-database.ts";
import { readDeployment } from "./read-deployment.ts";
import { rebuildProgress } from "./rebuild-progress.ts";
import { INDEXER_LOCK } from "./run-indexer.ts";
import { databaseSettings, indexerSettings } from "./settings.ts";

// An indexer that is told to leave does so within ten seconds; waiting a little longer spares the operator a retry.
const LOCK_MS_MAX = 15_000;

export const rebuild: RunCommand = async ({ environment, log, stop, say }) => {
  const config = readConfig(environment, { ...databaseSettings, ...indexerSettings });
  const deployment = await readDeployment(config.network);
  const { database, close } = await openConfiguredDatabase(config, log, "rebuild");
  try {
    const lock = await acquireLock(database, INDEXER_LOCK, {
      waitMs: LOCK_MS_MAX,
      signal: stop,
      writesMuch: true,
    });
    if (!lock)
      throw new Fault("DATABASE_BUSY", "An indexer writes to this schema; stop it, then rebuild again.");
    try {
      await lock.transaction((session) => claimSchema(session, deployment));
      const startedMs = systemClock.nowMs();
      const logs = await rebuildRows(lock, {
        schema: database.schema,
        declaration: { tables, foldVersion: FOLD_VERSION },
        fold: createProtocol(deployment, noReads).fold,
        signal: stop,
        report: rebuildProgress(log, systemClock),
      });
      const seconds = ((systemClock.nowMs() - startedMs) / 1000).toFixed(1);
      say(
        `Rebuilt ${tables.length} tables from ${logs.toLocaleString("en")} stored events in ${seconds} s.\n`,
      );
    } finally {
      await lock.release();
    }
  } finally {
    await close();
  }
  return 0;
};

const noReads = {
  transactions: () => Promise.reject(new Error("a rebuild asks no node")),
  calls: () => Promise.reject(new Error("a rebuild asks no node")),
};
