// The indexer service: runs the indexing loop on a chain, the protocol and a store while it holds the lock.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../chain/chains/chains.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc, RpcLimits } from "../chain/rpc/types.ts";
import { verifyDeployment } from "../chain/verify-deployment.ts";
import { splitRpcUrls } from "../config/indexing-settings.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { delayOptimization } from "../lib/optimization.ts";
import { retry } from "../lib/retry.ts";
import type { Secret } from "../lib/secret.ts";
import { createLogDecoder } from "../protocol/decode-logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { createAddDetails } from "../protocol/details/read-details.ts";
import { rowDeclaration } from "../protocol/domains.ts";
import { writeIndexerStatus } from "../store/index/checkpoint.ts";
import { claimSchema, completeIndexes, prepareRowTables } from "../store/index/prepare.ts";
import type { IndexProgress } from "../store/index/row-tables.ts";
import { openIndexStore } from "../store/index/store.ts";
import { acquireLock, type Lock } from "../store/postgres/advisory-lock.ts";
import type { Database } from "../store/postgres/database.ts";
import { SQLSTATE, sqlState } from "../store/postgres/errors.ts";
import { createChainSource, createDetailReads } from "./chain-source.ts";
import { type IndexingReporter, indexChain } from "./loop.ts";
import { createRebuildOptions, rereadLogs } from "./rebuild.ts";
import { withSelfAudit } from "./self-audit/run.ts";
import type { AuditReporter } from "./self-audit/schedule.ts";
import { type BlockSpan, createUnconfirmedRanges } from "./self-audit/unconfirmed-ranges.ts";

/** Reports whether this process waits for the lock or writes the index, and what it makes before it follows the chain. */
export type LeadershipReporter = {
  onStandby(): void;
  onLeading(): void;
  onTableIndex(index: IndexProgress): void;
};

type IndexerOptions = {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly urls: readonly Secret<string>[];
  readonly logRangeMax: number;
  /** Percentage of heavy history ranges that a second node reads too. */
  readonly comparedPercent: number;
  /** Time between two self-audit samples; 0 turns the self-audit off. */
  readonly auditMs: number;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly report: IndexingReporter & AuditReporter & LeadershipReporter & { report(): object };
  readonly onCall: CallObserver;
  readonly rpcLimits?: Partial<RpcLimits>;
};

// A restarting node is back within seconds; poll one that is down for longer a few times a minute.
const NODE_WAIT_MS_BASE = 500;
const NODE_WAIT_MS_MAX = 10_000;

/** The lock that makes one indexer the writer of a schema; a rebuild takes the same one. */
export const INDEXER_LOCK = "indexer";

/** Runs until `stop`: waits for the lock, indexes, and waits again after losing the lock. */
export async function runIndexer(options: IndexerOptions): Promise<void> {
  const { deployment, log, stop } = options;
  delayOptimization();
  const { http, sockets } = splitRpcUrls(options.urls);
  const rpc = createRpc({
    urls: http,
    chainId: deployment.chainId,
    log,
    onCall: options.onCall,
    limits: options.rpcLimits ?? {},
  });
  try {
    const verified = await verifyWhenReachable(rpc, options);
    if (verified === null) return;
    for (const host of verified.unreachable) {
      log.warn({ component: "indexer", event: "node_unreachable", host }, "Node unreachable at start");
    }
    const decoder = createLogDecoder(deployment);
    const unconfirmed = createUnconfirmedRanges(options.report.onUnconfirmedChange);
    const chain = createChainSource(rpc, {
      facts: findChainById(deployment.chainId) ?? UNKNOWN_CHAIN_DEFAULTS,
      decoder,
      wsUrls: sockets,
      rangeMax: options.logRangeMax,
      comparedShare: options.comparedPercent / 100,
      onUnconfirmed: async ({ fromBlock, toBlock }) => {
        unconfirmed.add({ from: fromBlock, to: toBlock });
        // Before their rows: a process that is killed must not forget it.
        await writeIndexerStatus(options.database, options.report.report());
      },
      log,
    });
    const addDetails = createAddDetails(deployment, createDetailReads(rpc));
    while (!stop.aborted) {
      await whileHoldingLock(options, async (lock, signal) => {
        await lock.transaction((session) => claimSchema(session, deployment));
        const { schema } = options.database;
        const { startBlock } = deployment;
        const rangeMax = options.logRangeMax;
        const reread = (range: BlockSpan, onStore: () => void, signal: AbortSignal) =>
          rereadLogs(lock, { rpc, deployment, range, rangeMax, onStore, signal });
        const audit = { ...options, rpc, decoder, unconfirmed, reread, signal };
        await withSelfAudit(audit, async (report, signal) => {
          const rebuild = createRebuildOptions(deployment, { schema, log, signal });
          await prepareRowTables(lock, rebuild, log);
          const store = openIndexStore(options.database, lock, rowDeclaration.tables);
          const onCaughtUp = () => completeIndexes(lock, rebuild, log, options.report.onTableIndex);
          await indexChain({ chain, addDetails, store }, { startBlock, onCaughtUp, signal, report });
        });
      }).catch((error: unknown) => {
        throw explainMissingTable(error, options.database);
      });
    }
  } finally {
    rpc.close();
  }
}

/** Tables do not disappear by themselves: someone has dropped the schema, or some of it. */
function explainMissingTable(error: unknown, { schema }: Database): unknown {
  if (sqlState(error) !== SQLSTATE.undefinedTable) return error;
  const message = `The schema ${schema} no longer has the tables of its index; the indexer creates them when it starts, and reads the chain again.`;
  return new Fault("DATABASE_INCOMPATIBLE", message, { cause: error });
}

/** Waits for a node that is down: it may be starting, as this process is. Null when stopped meanwhile. */
async function verifyWhenReachable(
  rpc: Rpc,
  { deployment, report, stop }: IndexerOptions,
): Promise<Awaited<ReturnType<typeof verifyDeployment>> | null> {
  const isTransient = (error: unknown) => error instanceof Fault && error.retry;
  try {
    return await retry(
      async () => {
        try {
          return await verifyDeployment(rpc, deployment, { signal: stop });
        } catch (error) {
          if (isTransient(error) && !stop.aborted) report.onFailure(error, NODE_WAIT_MS_MAX);
          throw error;
        }
      },
      {
        attemptsMax: Number.POSITIVE_INFINITY,
        delayMsBase: NODE_WAIT_MS_BASE,
        delayMsMax: NODE_WAIT_MS_MAX,
        isRetryable: isTransient,
        signal: stop,
      },
    );
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  }
}

/** Holds the lock while `work` runs; aborts `work` when the lock is lost or the process stops. */
async function whileHoldingLock(
  { database, stop, report, log }: IndexerOptions,
  work: (lock: Lock, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  report.onStandby();
  const lock = await acquireLock(database, INDEXER_LOCK, {
    waitMs: Number.POSITIVE_INFINITY,
    bulkWrites: true,
    takeOver: true,
    onTakeOver: (pid) =>
      log.warn(
        { component: "indexer", event: "lock_taken_over", pid },
        "Terminated the session of a frozen indexer",
      ),
    signal: stop,
    onLost: (fault) => lost.abort(fault),
  }).catch((error) => {
    if (stop.aborted) return null;
    throw error;
  });
  if (!lock) return;
  report.onLeading();
  try {
    await work(lock, AbortSignal.any([stop, lost.signal]));
  } catch (error) {
    if (stop.aborted) return;
    // Only a lost lock can be acquired again. The first failure may be that of a statement before the indexing loop,
    // such as one that prepares the tables, with the error of its connection.
    if (lock.isHeld || !(error instanceof Fault && error.retry)) throw error;
    log.warn(
      { component: "indexer", event: "lock_lost", err: error },
      "Lost the indexer lock, waiting for it again",
    );
  } finally {
    // If the connection fails in this moment, the lock is gone as well.
    await lock
      .release()
      .catch((err) =>
        log.debug(
          { component: "indexer", event: "lock_release_failed", err },
          "The lock was lost, not released",
        ),
      );
  }
}
