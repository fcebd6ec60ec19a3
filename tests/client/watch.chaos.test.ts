// watch() of the client while the API is killed and the chain forks, all of them real processes.
// `watch.test.ts` fails for the same broken rules, without processes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import type { WatchOptions } from "../../packages/client/watch/watch.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { EventModel } from "../api/events/event-model.ts";
import { openIndexerStage } from "../indexer/indexer-stage.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import {
  createDatabaseEnvironment,
  type SextantProcess,
  startSextant,
} from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

const FINALITY_DEPTH = 12;
const ROUNDS = 4;

it("programs end with the events of the chain, however often the API is killed", async () => {
  const stage = await openIndexerStage(12, { finalityDepth: FINALITY_DEPTH, reorgDepthMax: FINALITY_DEPTH });
  const { environment, connection, drop } = await createDatabaseEnvironment();
  const file = join(await createTestFolder(), "deployment.json");
  writeFileSync(file, JSON.stringify(stage.deployment));
  const settings = {
    ...environment,
    ...{ NETWORK: file, RPC_URL: stage.chain.rpcUrl, INDEXER_PORT: "0" },
  };
  const startApi = async (port: string): Promise<{ process: SextantProcess; url: string }> => {
    const process = startSextant(["api"], {
      environment: { ...settings, API_PORT: port, SEXTANT_METRICS_PORT: "shared" },
    });
    const said = await process.waitForOutput(/Indexing API is listening/);
    return { process, url: /"url":"(http:[^"]+)"/.exec(said)?.[1] ?? "" };
  };
  const indexer = startSextant(["indexer"], { environment: settings });
  await indexer.waitForOutput(/This process writes the index/);
  let api = await startApi("0");
  const { port } = new URL(api.url);
  const database = await openTestConnection(connection);
  const stop = new AbortController();
  const sextant = createSextant({ api: api.url });
  const failures: unknown[] = [];
  let retries = 0;
  const onRetry = () => {
    retries += 1;
  };
  const watch = (options: WatchOptions): EventModel => {
    const model = new EventModel();
    const run = async () => {
      const given = { from: "genesis", signal: stop.signal, onRetry, ...options };
      for await (const item of sextant.watch({}, given)) {
        if (item.kind === "event") model.append(item.event);
        else if (item.kind === "undo") model.undo(item.undo);
        else model.progress(item.progress);
      }
    };
    run().catch((error: unknown) => failures.push(error));
    return model;
  };
  try {
    const instant = watch({});
    const final = watch({ finalized: true });
    for (let round = 0; round < ROUNDS; round += 1) {
      await stage.runSteps(4);
      const { number } = await stage.head();
      await vi.waitFor(() => expect(instant.complete).toBe(number), { timeout: 90_000, interval: 20 });
      api.process.child.kill("SIGKILL");
      await api.process.ended;
      // Events that the client has seen are undone while nothing can say so.
      await stage.chain.reorg(1 + round, { replay: round % 2 === 0 ? "none" : "all", blocks: 2 + round });
      await pause(100 * round);
      api = await startApi(port);
    }
    await stage.runSteps(4);
    const head = await stage.head();
    await vi.waitFor(async () => expect((await readCheckpoint(database))?.block.hash).toBe(head.hash), {
      timeout: 120_000,
      interval: 100,
    });
    const { rows } = await database.query<{ id: string; number: string }>(
      "select '0x' || encode(b.hash, 'hex') || '-' || l.log_index as id, b.number from logs l join blocks b on b.number = l.block_number order by l.block_number, l.log_index",
    );
    const finalized = (await readCheckpoint(database))?.finalized ?? 0;
    const idsUpTo = (block: number) =>
      rows.filter(({ number }) => Number(number) <= block).map(({ id }) => id);
    const patience = { timeout: 60_000, interval: 50 };
    await vi.waitFor(() => expect(instant.ids).toEqual(idsUpTo(head.number)), patience);
    await vi.waitFor(() => expect(final.ids).toEqual(idsUpTo(finalized)), patience);
    expect(rows.length).toBeGreaterThan(10);
    expect(instant.undoCount).toBeGreaterThanOrEqual(ROUNDS);
    expect(final.undoCount).toBe(0);
    expect(retries).toBeGreaterThanOrEqual(2 * ROUNDS);
    expect(failures).toEqual([]);
  } finally {
    stop.abort();
    for (const { child, ended } of [api.process, indexer]) {
      child.kill("SIGKILL");
      await ended;
    }
    await database.close();
    await drop();
    await stage.chain.stop();
  }
}, 300_000);
