// After any fault of the indexer, its database or its node, the tables equal those of a clean index.
// Fast tests of the same rules: identical-tables.test.ts, src/chain/faulty-nodes.test.ts, src/store/postgres/advisory-lock.test.ts.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { readIndexes } from "../../src/store/index/versioned-rows.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/test-database.ts";
import { openTestDatabase, startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { type FaultyNodeOptions, startFaultyNode } from "../support/nodes/faulty-node.ts";
import {
  type CleanIndex,
  digestCleanIndex,
  FINALITY,
  type LogPosition,
  pickFinalLog,
} from "./clean-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
const QUICK = { pauseMsBase: 2, pauseMsMax: 20 };
// Enough that more blocks are final than recent.
const STEPS = 60;

// One history for all tests. Tests that undo blocks come last, and the one that undoes final blocks at the end.
let stage: IndexerStage;
let clean: CleanIndex;
let finalLog: LogPosition;
let indexed: TestDatabase;
beforeAll(async () => {
  stage = await openIndexerStage(71);
  await stage.runSteps(STEPS);
  const head = await stage.head();
  const finalized = head.number - FINALITY;
  expect(finalized).toBeGreaterThan(FINALITY);
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  await index.waitUntilIndexed(head);
  clean = { head, finalized, digest: await index.digest(finalized) };
  finalLog = await pickFinalLog(index);
  indexed = await index.keepAsTemplate();
}, 2 * MINUTE);
afterAll(async () => {
  await indexed?.drop();
  await stage?.chain.stop();
});

async function startFaulty(options: Omit<FaultyNodeOptions, "upstream">): Promise<string> {
  const node = await startFaultyNode({ upstream: stage.chain.request, ...options });
  onTestFinished(() => node.stop());
  return node.url;
}

async function startIndex(urls: readonly string[], continued?: TestDatabase): Promise<TestIndex> {
  const template = continued ? { template: continued.name } : {};
  const index = await startTestIndex({ urls, deployment: stage.deployment, rpcLimits: QUICK, ...template });
  onTestFinished(() => index.close());
  return index;
}

describe("a session of the writer that is lost before the indexing loop begins", () => {
  it(
    "keeps the indexer running when the writer's session is lost before the loop begins",
    async () => {
      const { database, place } = await openTestDatabase();
      onTestFinished(() => database.close());
      const blocker = await database.connect("blocker");
      onTestFinished(() => blocker.end());
      await blocker.query("begin; lock table deployment in access exclusive mode");
      const options = { urls: [stage.chain.rpcUrl], deployment: stage.deployment, rpcLimits: QUICK, place };
      const index = await startTestIndex(options);
      onTestFinished(() => index.close());
      const terminate = `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name like '% lock'`;
      await vi.waitFor(
        async () => expect((await database.query(terminate)).rows).toEqual([{ ended: true }]),
        {
          timeout: MINUTE,
        },
      );
      await blocker.query("commit");
      await index.waitUntilIndexed(clean.head);
      expect(await index.digest(clean.finalized)).toEqual(clean.digest);
    },
    2 * MINUTE,
  );
});

describe("a first backfill, which leaves the indexes of reads to the end", () => {
  const INDEXES = "select indexname, indexdef from pg_indexes where schemaname = 'sextant' order by 1";
  const MADE =
    "select oid::text, relname as name from pg_class where relkind = 'i' and relname like '%\\_by\\_%'";

  it(
    "makes the indexes once the history is in, and those that a lost session left unmade, before it is ready",
    async () => {
      const { database, place } = await openTestDatabase();
      onTestFinished(() => database.close());
      const blocker = await database.connect("blocker");
      onTestFinished(() => blocker.end());
      const options = { urls: [stage.chain.rpcUrl], deployment: stage.deployment, rpcLimits: QUICK };
      const index = await startTestIndex({ ...options, place });
      onTestFinished(() => index.close());
      const last = tables.findLast((table) => readIndexes(table).length > 0)?.name;
      // Rows can be written to the table, but no index can be made on it.
      await vi.waitFor(
        () => blocker.query(`begin; lock table ${last} in row exclusive mode`).catch(rollBack),
        {
          timeout: MINUTE,
        },
      );
      async function rollBack(error: unknown): Promise<never> {
        await blocker.query("rollback");
        throw error;
      }
      const terminate = `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'create unique index%'`;
      await vi.waitFor(
        async () => expect((await database.query(terminate)).rows).toEqual([{ ended: true }]),
        { timeout: MINUTE },
      );
      const made = (await database.query(MADE)).rows;
      expect(made.length).toBeGreaterThan(10);
      expect((await readCheckpoint(database))?.block.number).toBe(clean.finalized);
      expect(index.status.readiness()).toMatchObject({ ready: false });
      await blocker.query("commit");

      await index.waitUntilIndexed(clean.head);
      expect(await index.digest(clean.finalized)).toEqual(clean.digest);
      const whole = await openTestDatabase(await createTestDatabase({ template: indexed.name }));
      onTestFinished(() => whole.drop());
      expect((await database.query(INDEXES)).rows).toEqual((await whole.database.query(INDEXES)).rows);
      // None of them was made twice.
      expect((await database.query(MADE)).rows).toEqual(expect.arrayContaining(made));
    },
    2 * MINUTE,
  );
});

describe("a made-up hash of the last block of history", () => {
  it(
    "does not take a made-up hash of the last block as the checkpoint",
    async () => {
      const liar = await startFaulty({
        // The first response to every request for a single block is wrong, the next one correct.
        plan: (number, calls) =>
          number > 4 && calls.some(({ method }) => method === "eth_getBlockByNumber")
            ? { kind: "wrong-hash" }
            : null,
        liesPerCall: 1,
      });
      const index = await startIndex([liar]);
      await index.waitUntilIndexed(clean.head);
      expect(await index.digest(clean.finalized)).toEqual(clean.digest);
    },
    4 * MINUTE,
  );
});

describe("a node that always omits one log", () => {
  it(
    "loses no row to a node that omits a log while a second node is honest",
    async () => {
      const { block, logIndex } = finalLog;
      const liar = await startFaulty({
        plan: () => ({ kind: "omit-log", block, logIndex }),
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      const index = await startIndex([liar, stage.chain.rpcUrl]);
      await index.waitUntilIndexed(clean.head);
      const { rows: found } = await index.database.query<{ count: string }>({
        text: "select count(*) from logs where block_number = $1 and log_index = $2",
        values: [block, logIndex],
      });
      expect(found[0]?.count).toBe("1");
      expect(await index.digest(clean.finalized)).toEqual(clean.digest);
    },
    2 * MINUTE,
  );
});

describe("a node that calls its head final", () => {
  it(
    "does not make blocks final on one node's word that a second may undo",
    async () => {
      const liar = await startFaulty({ plan: () => ({ kind: "final-at", block: "latest" }) });
      const index = await startIndex([liar, stage.chain.rpcUrl]);
      await index.waitUntilIndexed(await stage.head());
      await stage.chain.reorg(10, { replay: "none", blocks: 12 });
      await index.waitUntilIndexed(await stage.head());
      expect(index.status.report().reorgs).toBeGreaterThan(0);
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await index.digest(finalized)).toEqual(digest);
    },
    2 * MINUTE,
  );
});

describe("a reorg deeper than finality", () => {
  it(
    "stops at a reorg deeper than finality with an explanation and deletes nothing",
    async () => {
      const index = await startIndex([stage.chain.rpcUrl], indexed);
      await index.waitUntilIndexed(await stage.head());
      const before = await index.database.query("select count(*) from logs");
      await stage.chain.reorg(50, { replay: "none", blocks: 60 });
      await expect
        .poll(() => String(index.failure()), { timeout: 30_000 })
        .toMatch(/The chain differs from the index at block \d+, which was final; nothing was deleted/);
      expect(await index.database.query("select count(*) from logs")).toEqual(before);
    },
    3 * MINUTE,
  );
});
