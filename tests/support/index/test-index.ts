// An index of a local chain in a test database, composed as in the indexer command.

import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { inject } from "vitest";
import type { RpcLimits } from "../../../src/chain/rpc/types.ts";
import { runIndexer } from "../../../src/indexer/run.ts";
import { createIndexerStatus, type IndexerStatus } from "../../../src/indexer/status.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { type Deployment, parseDeployment } from "../../../src/protocol/deployment.ts";
import { rowDeclaration, tables } from "../../../src/protocol/domains.ts";
import { createStoredLogsFold } from "../../../src/protocol/fold.ts";
import { readCheckpoint } from "../../../src/store/index/checkpoint.ts";
import { rebuildRows } from "../../../src/store/index/rebuild.ts";
import { acquireLock } from "../../../src/store/postgres/advisory-lock.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from "../database/test-database.ts";
import { digestTables } from "../digest-tables.ts";
import { silentLog } from "../quiet-log.ts";

export type TestIndex = {
  readonly database: Database;
  /** The URL of the database, for commands that open it themselves. */
  readonly place: TestDatabase;
  readonly status: IndexerStatus;
  /** Waits until the index has the head, by number and hash. */
  waitUntilIndexed(head: { readonly number: number; readonly hash: string }): Promise<void>;
  digest(finalized?: number): Promise<Readonly<Record<string, string>>>;
  /** The error that ended the indexer, if any. */
  failure(): unknown;
  /** Stops the indexer and leaves the database open. */
  stopIndexing(): Promise<void>;
  /** Stops and disconnects, so that other indexes can continue copies of the database. */
  keepAsTemplate(): Promise<TestDatabase>;
  close(): Promise<void>;
};

// Enough for a busy machine with a faulty node.
const REACH_MS_MAX = 150_000;
const LOOK_MS = 20;

export function toDeployment({
  network,
  chainId,
  startBlock,
  contracts,
  local,
}: LocalDeployment): Deployment {
  const tokens = {
    [local.UsdCoin]: { symbol: "USDC", decimals: 6 },
    [local.WrappedEther]: { symbol: "WETH", decimals: 18 },
  };
  return parseDeployment({ network, chainId, startBlock, contracts, tokens }, "test");
}

/** Empty but migrated, unless another is given. */
export async function openTestDatabase(
  given?: TestDatabase,
): Promise<{ database: Database; place: TestDatabase; drop(): Promise<void> }> {
  const place = given ?? (await createMigratedDatabase());
  const database = await openDatabase({
    connection: place.connection,
    schema: "sextant",
    poolMax: 4,
    log: silentLog,
    applicationName: "test",
  });
  return {
    database,
    place,
    async drop() {
      await database.close();
      await place.drop();
    },
  };
}

/** Starts indexing at once. */
export async function startTestIndex(options: {
  readonly urls: readonly string[];
  readonly deployment: Deployment;
  readonly logRangeMax?: number;
  readonly rpcLimits?: Partial<RpcLimits>;
  /** Time between two self-audit samples; none without it. */
  readonly auditMs?: number;
  /** A migrated database; a new one with empty tables by default. */
  readonly place?: TestDatabase;
  /** Continues a copy of this database, an index that was stopped. */
  readonly template?: string;
}): Promise<TestIndex> {
  // The tables are there by default. The shared history and tests/indexer/faults.integration.test.ts let the indexer create them.
  const given =
    options.place ?? (await createTestDatabase({ template: options.template ?? inject("rowTemplate") }));
  const { database, place, drop } = await openTestDatabase(given);
  const status = createIndexerStatus(silentLog, systemClock);
  const stop = new AbortController();
  let failure: unknown = null;
  const running = runIndexer({
    database,
    deployment: options.deployment,
    urls: options.urls.map((url) => new Secret(url)),
    logRangeMax: options.logRangeMax ?? 10_000,
    comparedPercent: 5,
    auditMs: options.auditMs ?? 0,
    log: silentLog,
    stop: stop.signal,
    report: status,
    onCall: status.onCall,
    rpcLimits: options.rpcLimits ?? {},
  }).catch((error) => {
    failure = error;
  });
  const stopIndexing = async () => {
    stop.abort();
    await running;
  };
  return {
    database,
    place,
    status,
    waitUntilIndexed: (head) => waitForHead(database, status, head, () => failure),
    async digest(finalized) {
      return digestTables(database, tables, finalized ?? (await readCheckpoint(database))?.finalized ?? 0);
    },
    failure: () => failure,
    stopIndexing,
    async keepAsTemplate() {
      await stopIndexing();
      await database.close();
      return place;
    },
    async close() {
      await stopIndexing();
      await drop();
    },
  };
}

async function waitForHead(
  database: Database,
  status: IndexerStatus,
  head: { readonly number: number; readonly hash: string },
  readFailure: () => unknown,
): Promise<void> {
  const until = Date.now() + REACH_MS_MAX;
  for (;;) {
    const failure = readFailure();
    if (failure) throw failure;
    const position = await readCheckpoint(database);
    if (position?.block.number === head.number && position.block.hash === head.hash) return;
    if (Date.now() > until) {
      const where = `at ${position?.block.number} instead of ${head.number}`;
      throw new Error(`the index is ${where}: ${JSON.stringify(status.report())}`);
    }
    await systemClock.sleep(LOOK_MS);
  }
}

/** Rebuilds the rows from the stored logs, once the indexer has released its lock; returns the number of logs. */
export async function rebuildTestRows(database: Database, deployment: Deployment): Promise<number> {
  const lock = await acquireLock(database, "indexer", { waitMs: 5_000 });
  if (!lock) throw new Error("the indexer still holds its lock");
  try {
    return await rebuildRows(lock, {
      schema: database.schema,
      declaration: rowDeclaration,
      fold: createStoredLogsFold(deployment),
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  } finally {
    await lock.release();
  }
}
