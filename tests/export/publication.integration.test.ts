// A follower of the publication has the tables of the index, after new blocks and after a reorg.
// Fast tests of the same rules: publication.test.ts here, for the tables and their keys; src/store/index/store.test.ts
// for blocks that are written and undone whole.
import { expect, it, onTestFinished } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { openIndexerStage } from "../indexer/indexer-stage.ts";
import { startReplicatedPostgres } from "../support/database/replicated-postgres.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { startTestIndex } from "../support/index/test-index.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { silentLog } from "../support/quiet-log.ts";
import {
  type FollowedTransaction,
  PUBLISHED,
  ReplicationFollower,
  readSourceRows,
} from "./replication-follower.ts";

/** A server whose log can be decoded, with an index of a chain in it. */
async function openPublishedIndex() {
  const cluster = await startReplicatedPostgres({ replicas: [] });
  onTestFinished(() => cluster.stop());
  const connection = { url: new Secret(cluster.primary.url) };
  const empty = await openTestConnection(connection);
  await migrate(empty, migrations, silentLog);
  await empty.close();
  const stage = await openIndexerStage(453, { finalityDepth: 64 });
  onTestFinished(() => stage.chain.stop());
  const place = { connection, name: "postgres", drop: async () => undefined };
  const { chain, deployment } = stage;
  const index = await startTestIndex({ urls: [chain.rpcUrl, chain.wsUrl], deployment, place });
  onTestFinished(() => index.close());
  const run = (name: string) =>
    runSextantInProcess(["export", "--publication", name], {
      DATABASE_URL: cluster.primary.url,
      SEXTANT_LOG_LEVEL: "warn",
    });
  return { stage, index, run };
}

const sumOf = (transactions: readonly FollowedTransaction[], operation: string) =>
  transactions.reduce((sum, each) => sum + (each[operation] ?? 0), 0);

it("a publication sends the changes of a block and of a reorg to a follower", async () => {
  const { stage, index, run } = await openPublishedIndex();
  const { database } = index;
  await stage.runSteps(20);
  await index.waitUntilIndexed(await stage.head());
  expect(await run("followers")).toMatchObject({
    code: 0,
    // And no word about the server, which has the log that a follower needs.
    out: `The publication followers has ${PUBLISHED.length} tables, ${PUBLISHED.length} of them added now.\n`,
  });

  const options = { slot: "follower", publication: "followers", tables: PUBLISHED };
  const follower = await ReplicationFollower.start(database, options);
  const expectSameTables = async () => {
    for (const table of PUBLISHED)
      expect(follower.rows(table), table).toEqual(await readSourceRows(database, table));
  };
  await stage.runSteps(10);
  await index.waitUntilIndexed(await stage.head());
  const blocks = await follower.follow();
  // Each transaction is whole: whatever it inserts, it says up to which block.
  expect(blocks.every((each) => each["insert logs"] === undefined || each["update checkpoint"] === 1)).toBe(
    true,
  );
  expect(sumOf(blocks, "insert logs")).toBeGreaterThan(5);
  await expectSameTables();

  await stage.chain.reorg(6, { replay: "none", blocks: 7 });
  await index.waitUntilIndexed(await stage.head());
  const reorg = await follower.follow();
  expect(sumOf(reorg, "delete blocks")).toBe(6);
  expect(sumOf(reorg, "delete logs")).toBeGreaterThan(0);
  await expectSameTables();
});
