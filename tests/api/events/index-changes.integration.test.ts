// Open streams while the index behind them does something rare: rejects a fork below what is final, then is rebuilt.
// Main covers a part: streams.test.ts, src/store/index/rebuild.test.ts, src/store/index/store.test.ts.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { EVENT_SUBJECTS } from "../../../src/protocol/event-filter.ts";
import { FINALITIES } from "../../../src/store/index/event-logs.ts";
import { type IndexerStage, openIndexerStage } from "../../indexer/indexer-stage.ts";
import { startTestApi, type TestApi } from "../../support/http/test-api.ts";
import { rebuildTestRows, startTestIndex, type TestIndex } from "../../support/index/test-index.ts";
import { FoldingClient } from "./folding-client.ts";

const FINALITY_DEPTH = 4;
const STEPS = 20;
const POLL_MS = 50;
const PATIENCE = { timeout: 60_000, interval: 20 };
const TEST_MS_MAX = 180_000;

// One chain for both changes: the second one needs an index that has stopped.
let stage: IndexerStage;
let index: TestIndex;
let api: TestApi;
let clients: readonly FoldingClient[] = [];

/** Some events, and a client of each finality that has them. */
beforeAll(async () => {
  stage = await openIndexerStage(31, { finalityDepth: FINALITY_DEPTH, reorgDepthMax: 16 });
  index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  api = await startTestApi(index.database, { eventStreams: { pollMs: POLL_MS } });
  clients = FINALITIES.map((finality) => new FoldingClient(finality, () => api.url));
  await stage.runSteps(STEPS);
  const head = await stage.head();
  await index.waitUntilIndexed(head);
  for (const client of clients) {
    const upTo = client.finality === "instant" ? head.number : head.number - FINALITY_DEPTH;
    await vi.waitFor(() => {
      client.assertSound();
      expect(client.model.complete).toBe(upTo);
    }, PATIENCE);
  }
}, TEST_MS_MAX);

afterAll(async () => {
  for (const client of clients) client.stop();
  await api?.close();
  await index?.close();
  await stage?.chain.stop();
});

function expectUndisturbed(ids: readonly (readonly string[])[]): void {
  for (const [at, client] of clients.entries()) {
    client.assertSound();
    expect([client.model.undoCount, client.connections]).toEqual([0, 1]);
    expect(client.model.ids).toEqual(ids[at]);
  }
}

it(
  "a fork below what is final changes nothing for open streams: the index stays where it is, and says why",
  async () => {
    const before = clients.map(({ model }) => model.ids);
    expect(before.map((ids) => ids.length > 0)).toEqual(FINALITIES.map(() => true));
    await stage.chain.reorg(FINALITY_DEPTH * 3, { replay: "none", blocks: FINALITY_DEPTH * 3 + 2 });
    await vi.waitFor(
      () => expect(JSON.stringify(index.status.report())).toContain("which was final"),
      PATIENCE,
    );
    // Several looks at the index.
    await pause(6 * POLL_MS);
    expectUndisturbed(before);
    const page = await fetch(`${api.url}/events?limit=1000`);
    expect(page.status).toBe(200);
    const { events } = (await page.json()) as { events: { id: string }[] };
    expect(events.map(({ id }) => id)).toEqual(before[0]);
  },
  TEST_MS_MAX,
);

it(
  "a rebuild swaps the tables under open streams and pages, which show the same events before, after and meanwhile",
  async () => {
    await index.stopIndexing();
    const { owner } = stage.chain.accounts;
    const subjects = Object.keys(EVENT_SUBJECTS).map(
      (subject) => `&${subject}=${subject === "account" ? owner.address.toLowerCase() : 1}`,
    );
    const readAll = async () => {
      const bodies: string[] = [];
      for (const query of ["", ...subjects]) {
        const response = await fetch(`${api.url}/events?limit=1000${query}`);
        expect(response.status, query).toBe(200);
        bodies.push(await response.text());
      }
      return bodies;
    };
    const ids = clients.map(({ model }) => model.ids);
    const before = await readAll();
    expect(new Set(before).size).toBeGreaterThan(3);
    let isRebuilding = true;
    let readsMeanwhile = 0;
    const rebuilt = (async () => {
      for (let times = 0; times < 2; times += 1) await rebuildTestRows(index.database, stage.deployment);
      isRebuilding = false;
    })();
    while (isRebuilding) {
      expect(await readAll()).toEqual(before);
      readsMeanwhile += 1;
      // The rebuild needs the processor too.
      await pause(20);
    }
    await rebuilt;
    expect(readsMeanwhile).toBeGreaterThan(0);
    expect(await readAll()).toEqual(before);
    expectUndisturbed(ids);
  },
  TEST_MS_MAX,
);
