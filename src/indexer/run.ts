// The indexer put together: a chain, the protocol and a store plugged into the indexing loop, under the lock.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../chain/chains/chains.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc, RpcLimits } from "../chain/rpc/types.ts";
import { verifyDeployment } from "../chain/verify-deployment.ts";
import { splitRpcUrls } from "../config/node-urls.ts";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { retry } from "../lib/retry.ts";
import type { Secret } from "../lib/secret.ts";
import { createLogDecoder } from "../protocol/decode/logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { FOLD_VERSION, tables } from "../protocol/domains.ts";
import { createProtocol } from "../protocol/fold.ts";
import { claimSchema, prepareRowTables } from "../store/index/prepare.ts";
import { openIndexStore } from "../store/index/store.ts";
import { acquireLock, type Lock } from "../store/postgres/advisory-lock.ts";
import type { Database } from "../store/postgres/database.ts";
import { createChainSource, createDetailReads } from "./chain-source.ts";
import { type IndexingReporter, indexChain } from "./loop.ts";
import { createRebuildProgress } from "./rebuild.ts";
import { withSelfAudit } from "./self-audit/run.ts";
import type { AuditReporter } from "./self-audit/schedule.ts";
import { createUnconfirmedRanges } from "./self-audit/unconfirmed-ranges.ts";

export type IndexerOptions = {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly urls: readonly Secret<string>[];
  readonly logRangeMax: number;
  /** Percentage of large log ranges of history that a second node reads too. */
  readonly comparedPercent: number;
  /** Time between two samples that the indexer audits by itself; 0 turns it off. */
  readonly auditMs: number;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly report: IndexingReporter & AuditReporter & { standby(): void; leading(): void };
  readonly onCall: CallObserver;
  readonly rpcLimits?: Partial<RpcLimits>;
};

// A node that restarts is back within seconds; one that is down for longer is asked a few times a minute.
const NODE_WAIT_MS_BASE = 500;
const NODE_WAIT_MS_MAX = 10_000;

/** The lock that makes one indexer the writer of a schema; a rebuild takes the same one. */
export const INDEXER_LOCK = "indexer";

/** Runs until `stop`: waits for the lock, indexes, and waits again when the lock is lost. */
export async function runIndexer(options: IndexerOptions): Promise<void> {
  const { deployment, log, stop } = options;
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
    for (const host of verified.unreachable) log.warn({ host }, "A node could not be asked at the start");
    const decoder = createLogDecoder(deployment);
    const unconfirmed = createUnconfirmedRanges(options.report.onUnconfirmedChange);
    const chain = createChainSource(rpc, {
      facts: findChainById(deployment.chainId) ?? UNKNOWN_CHAIN_DEFAULTS,
      decoder,
      wsUrls: sockets,
      rangeMax: options.logRangeMax,
      comparedShare: options.comparedPercent / 100,
      onUnconfirmed: ({ fromBlock, toBlock }) => unconfirmed.add({ from: fromBlock, to: toBlock }),
      log,
    });
    const protocol = createProtocol(deployment, createDetailReads(rpc));
    while (!stop.aborted) {
      await asTheOnlyOne(options, async (lock, signal) => {
        const declaration = { tables, foldVersion: FOLD_VERSION };
        await lock.transaction((session) => claimSchema(session, deployment));
        await prepareRowTables(
          lock,
          {
            schema: options.database.schema,
            declaration,
            fold: protocol.fold,
            signal,
            onProgress: createRebuildProgress(log, systemClock),
          },
          log,
        );
        const store = openIndexStore(options.database, lock, tables);
        const { startBlock } = deployment;
        await withSelfAudit({ ...options, rpc, decoder, unconfirmed, signal }, (report) =>
          indexChain({ chain, protocol, store }, { startBlock, signal, report }),
        );
      });
    }
  } finally {
    rpc.close();
  }
}

/** Waits for a node that is down: it may be starting, as this process is. Null when it was told to stop meanwhile. */
async function verifyWhenReachable(
  rpc: Rpc,
  { deployment, report, stop }: IndexerOptions,
): Promise<Awaited<ReturnType<typeof verifyDeployment>> | null> {
  const isPassing = (error: unknown) => error instanceof Fault && error.retry;
  try {
    return await retry(
      async () => {
        try {
          return await verifyDeployment(rpc, deployment, { signal: stop });
        } catch (error) {
          if (isPassing(error) && !stop.aborted) report.onFailure(error, NODE_WAIT_MS_MAX);
          throw error;
        }
      },
      {
        attemptsMax: Number.POSITIVE_INFINITY,
        delayMsBase: NODE_WAIT_MS_BASE,
        delayMsMax: NODE_WAIT_MS_MAX,
        isRetryable: isPassing,
        signal: stop,
      },
    );
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  }
}

/** Holds the lock while `work` runs; `work` is told to leave when the lock is lost or the process stops. */
async function asTheOnlyOne(
  { database, stop, report, log }: IndexerOptions,
  work: (lock: Lock, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  report.standby();
  const lock = await acquireLock(database, INDEXER_LOCK, {
    waitMs: Number.POSITIVE_INFINITY,
    bulkWrites: true,
    takeOver: true,
    onTakeOver: (pid) => log.warn({ pid }, "The writing indexer froze; its database session was terminated"),
    signal: stop,
    onLost: (fault) => lost.abort(fault),
  }).catch((error) => {
    if (stop.aborted) return null;
    throw error;
  });
  if (!lock) return;
  report.leading();
  try {
    await work(lock, AbortSignal.any([stop, lost.signal]));
  } catch (error) {
    if (stop.aborted) return;
    // The lock is the only failure that another turn cures.
    if (!(error instanceof Fault && error.code === "DATABASE_LOCK_LOST")) throw error;
    log.warn({ err: error }, "The indexer lost its lock and waits for it again");
  } finally {
    await lock.release();
  }
}
