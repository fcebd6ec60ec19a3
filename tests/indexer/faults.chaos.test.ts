// Indexers that are killed, and nodes that lie at random: the tables equal those of a clean index in the end.
// Fast tests of the same rules: the lock in src/store/postgres/advisory-lock.test.ts, single faults in faults.integration.test.ts.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { tables } from "../../src/protocol/domains.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { digestTables } from "../support/digest-tables.ts";
import { startTestIndex } from "../support/index/test-index.ts";
import { startFaultyNode } from "../support/nodes/faulty-node.ts";
import { LIAR_FAULTS, type NodeFaultInjection } from "../support/nodes/node-faults.ts";
import {
  createDatabaseEnvironment,
  type SextantProcess,
  startSextant,
} from "../support/process/sextant-process.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { digestCleanIndex } from "./clean-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

type Site = { readonly database: Database; start(): SextantProcess; reached(number: number): Promise<void> };

/** A database that `sextant indexer` processes write to. */
async function openSite(stage: IndexerStage): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-faults-"));
  const network = join(folder, "deployment.json");
  await writeFile(network, JSON.stringify(stage.deployment));
  const { environment, connection, drop } = await createDatabaseEnvironment();
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const database = await openDatabase({
    connection,
    schema: "sextant",
    poolMax: 2,
    log,
    applicationName: "look",
  });
  onTestFinished(async () => {
    await database.close();
    await drop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    database,
    start: () =>
      startSextant(["indexer"], {
        environment: { ...environment, NETWORK: network, RPC_URL: stage.chain.rpcUrl, INDEXER_PORT: "0" },
        cwd: folder,
      }),
    async reached(number) {
      for (const until = Date.now() + MINUTE; Date.now() < until; ) {
        const position = await readCheckpoint(database).catch(() => null);
        if (position && position.block.number >= number) return;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error(`block ${number} was not indexed within a minute`);
    },
  };
}

describe("kill -9", () => {
  it(
    "kills at random moments of history and of the head leave the tables of a clean index",
    async () => {
      const stage = await openIndexerStage(21);
      await stage.runSteps(250);
      const site = await openSite(stage);
      const random = seededRandom(21);
      for (let kills = 0; kills < 6; kills += 1) {
        const victim = site.start();
        // Before it has the lock, during the backfill, or at the head.
        await new Promise((resolve) => setTimeout(resolve, 300 + random() * 1_500));
        victim.child.kill("SIGKILL");
        await victim.ended;
        await stage.runSteps(10);
      }
      const last = site.start();
      const head = await stage.head();
      await site.reached(head.number);
      last.child.kill("SIGTERM");
      expect((await last.ended).code).toBe(0);
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await digestTables(site.database, tables, finalized)).toEqual(digest);
      await stage.chain.stop();
    },
    3 * MINUTE,
  );
});

describe("two indexers", () => {
  it(
    "lets one of two indexers write, and the second take over when the first is killed",
    async () => {
      const stage = await openIndexerStage(22);
      await stage.runSteps(60);
      const site = await openSite(stage);
      const first = site.start();
      await first.waitForOutput(/This process writes the index/);
      const second = site.start();
      await second.waitForOutput(/Waiting for the lock/);
      await stage.runSteps(40);
      await site.reached((await stage.head()).number);
      first.child.kill("SIGKILL");
      const killedMs = Date.now();
      await second.waitForOutput(/This process writes the index/);
      expect(Date.now() - killedMs).toBeLessThan(10_000);
      await stage.runSteps(40);
      await site.reached((await stage.head()).number);
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await digestTables(site.database, tables, finalized)).toEqual(digest);
      await stage.chain.stop();
    },
    2 * MINUTE,
  );
});

describe("a node that returns wrong data", () => {
  const FAULTS: readonly NodeFaultInjection[] = [...LIAR_FAULTS, { kind: "hang" }];
  const START_METHODS = new Set(["eth_chainId", "eth_getCode"]);

  it.each([31, 32])(
    "a node with wrong data delays the index and never costs a row (seed %i)",
    async (seed) => {
      const stage = await openIndexerStage(seed);
      await stage.runSteps(150);
      const random = seededRandom(seed);
      let isStarted = false;
      const node = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        // This does not test the start: the responses that verify the deployment are correct, however often a busy
        // machine repeats the requests.
        plan: (_, calls) => {
          isStarted ||= calls.some(({ method }) => !START_METHODS.has(method));
          const isFaulty = isStarted && random() < 0.25;
          return isFaulty ? (FAULTS[Math.floor(random() * FAULTS.length)] ?? null) : null;
        },
        liesPerCall: 1,
      });
      const index = await startTestIndex({
        urls: [node.url],
        deployment: stage.deployment,
        logRangeMax: 40,
        rpcLimits: { pauseMsBase: 2, pauseMsMax: 20, requestTimeoutMs: 300, attemptsMax: 8 },
      });
      for (let act = 0; act < 3; act += 1) {
        await stage.runSteps(30);
        await stage.chain.reorg(1 + Math.floor(random() * 12), { replay: "none" });
      }
      await stage.runSteps(20);
      await index.waitUntilIndexed(await stage.head());
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await index.digest(finalized)).toEqual(digest);
      expect(node.requests.length).toBeGreaterThan(50);
      await index.close();
      await node.stop();
      await stage.chain.stop();
    },
    6 * MINUTE,
  );
});
