// The primary database is killed while the indexer and the API use it, and a replica is promoted: both go on by themselves.
// Proves docs/runbook.md#fail-over. Fast tests of the same rules: src/store/postgres/server-list.test.ts.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { Secret } from "../../src/lib/secret.ts";
import { tables } from "../../src/protocol/domains.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { EventModel } from "../api/events/event-model.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/database/replicated-postgres.ts";
import { digestTables } from "../support/digest-tables.ts";
import { startSextant } from "../support/process/sextant-process.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { digestCleanIndex } from "./clean-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
const PATIENCE = { timeout: 90_000, interval: 100 };

async function openSite(stage: IndexerStage, cluster: ReplicatedPostgres) {
  const network = join(await createTestFolder(), "deployment.json");
  await writeFile(network, JSON.stringify(stage.deployment));
  const node = { NETWORK: network, RPC_URL: stage.chain.rpcUrl };
  const environment = { ...node, DATABASE_URL: cluster.url, INDEXER_PORT: "0", API_PORT: "0" };
  const indexer = startSextant(["indexer"], { environment });
  await indexer.waitForOutput(/This process writes the index/);
  const api = startSextant(["api"], { environment });
  const said = await api.waitForOutput(/Indexing API is listening/);
  const database = await openDatabase({
    connection: { url: new Secret(cluster.url) },
    schema: "sextant",
    poolMax: 2,
    log: silentLog,
    applicationName: "look",
  });
  onTestFinished(() => database.close());
  const url = /"url":"(http:[^"]+)"/.exec(said)?.[1] ?? "";
  return { indexer, api, url, database };
}

async function waitUntilIndexed(database: Database, stage: IndexerStage): Promise<void> {
  await vi.waitFor(async () => {
    const { hash } = await stage.head();
    expect((await readCheckpoint(database))?.block.hash).toBe(hash);
  }, PATIENCE);
}

/** Publishes one document after the other until it is stopped; keeps the hashes that the API acknowledged. */
function publishDocuments(url: string) {
  const acknowledged: string[] = [];
  let isWanted = true;
  const publish = async () => {
    for (let n = 0; isWanted; n += 1) {
      const body = JSON.stringify({ catalog_json: JSON.stringify({ n }), merchant_id: "1" });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${url}/catalogs`, { method: "POST", headers, body }).catch(() => null);
      if (response?.status === 201) {
        const record = (await response.json()) as { readonly catalog_hash: string };
        acknowledged.push(record.catalog_hash);
      }
      await sleep(20);
    }
  };
  const running = publish();
  return {
    acknowledged,
    async stop() {
      isWanted = false;
      await running;
    },
  };
}

/** Every event in order, as a client of the API sees them. */
function watchEvents(url: string): { readonly model: EventModel; readonly failures: unknown[] } {
  const model = new EventModel();
  const failures: unknown[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const watch = async () => {
    const given = { from: "genesis", signal: stop.signal };
    for await (const item of createSextant({ api: url }).watch({}, given)) {
      if (item.kind === "event") model.append(item.event);
      else if (item.kind === "undo") model.undo(item.undo);
      else model.progress(item.progress);
    }
  };
  watch().catch((error: unknown) => failures.push(error));
  return { model, failures };
}

it(
  "under synchronous replication nothing that was acknowledged is lost",
  async () => {
    const stage = await openIndexerStage(41);
    onTestFinished(() => stage.chain.stop());
    await stage.runSteps(60);
    const cluster = await startReplicatedPostgres({ replicas: [{}, {}], synchronous: true });
    onTestFinished(() => cluster.stop());
    const site = await openSite(stage, cluster);
    const { model, failures } = watchEvents(site.url);
    const documents = publishDocuments(site.url);
    const acting = stage.runSteps(60);
    await vi.waitFor(() => expect(documents.acknowledged.length).toBeGreaterThan(10), PATIENCE);
    await cluster.primary.kill();
    const before = documents.acknowledged.length;
    // As a cluster manager does: one that had received more could not follow, and commits would wait for it.
    await cluster.failOverTo(await cluster.findMostAdvanced());
    await acting;
    await vi.waitFor(() => expect(documents.acknowledged.length).toBeGreaterThan(before + 10), PATIENCE);
    await documents.stop();
    await waitUntilIndexed(site.database, stage);

    for (const hash of documents.acknowledged) {
      const response = await fetch(`${site.url}/catalogs/${hash}`);
      expect(response.status, hash).toBe(200);
    }
    const { finalized, digest, head } = await digestCleanIndex(stage);
    expect(await digestTables(site.database, tables, finalized)).toEqual(digest);
    await vi.waitFor(() => expect(model.complete).toBe(head.number), PATIENCE);
    expect([model.undoCount, failures]).toEqual([0, []]);
    expect([site.indexer.child.exitCode, site.api.child.exitCode]).toEqual([null, null]);
  },
  3 * MINUTE,
);

it(
  "blocks that asynchronous replication lost are read from the chain again",
  async () => {
    const stage = await openIndexerStage(42);
    onTestFinished(() => stage.chain.stop());
    await stage.runSteps(60);
    const cluster = await startReplicatedPostgres({ replicas: [{}] });
    onTestFinished(() => cluster.stop());
    const [replica] = cluster.replicas;
    if (!replica) throw new Error("one replica");
    const site = await openSite(stage, cluster);
    const { model, failures } = watchEvents(site.url);
    await waitUntilIndexed(site.database, stage);
    await cluster.catchUp();
    await replica.stall();
    await stage.runSteps(40);
    await waitUntilIndexed(site.database, stage);
    const seen = await stage.head();
    await vi.waitFor(() => expect(model.complete).toBe(seen.number), PATIENCE);

    await cluster.primary.kill();
    await cluster.failOverTo(replica);
    const [kept] = await replica.query<{ number: string }>(
      "SELECT block_number AS number FROM sextant.checkpoint",
    );
    // Otherwise nothing was lost.
    expect(Number(kept?.number)).toBeLessThan(seen.number);
    await stage.runSteps(40);
    await waitUntilIndexed(site.database, stage);
    const { finalized, digest, head } = await digestCleanIndex(stage);
    expect(await digestTables(site.database, tables, finalized)).toEqual(digest);
    // The stream was ahead of the index for a while: it waits, and undoes nothing.
    await vi.waitFor(() => expect(model.complete).toBe(head.number), PATIENCE);
    expect([model.undoCount, failures]).toEqual([0, []]);
    expect([site.indexer.child.exitCode, site.api.child.exitCode]).toEqual([null, null]);
  },
  3 * MINUTE,
);
