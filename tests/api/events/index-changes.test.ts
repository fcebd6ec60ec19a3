// Open streams while the index behind them does something rare: rejects a fork below what is final, or is rebuilt.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { EVENT_SUBJECTS } from "../../../src/protocol/event-filter.ts";
import { FINALITIES } from "../../../src/store/index/event-logs.ts";
import { type IndexerStage, openIndexerStage } from "../../indexer/indexer-stage.ts";
import { startTestApi } from "../../support/http/test-api.ts";
import { rebuildTestRows, startTestIndex, type TestIndex } from "../../support/index/test-index.ts";
import { FoldingClient } from "./folding-client.ts";

const FINALITY_DEPTH = 4;
const PATIENCE = { timeout: 60_000, interval: 20 };
const TEST_MS_MAX = 180_000;

type Followed = {
  readonly stage: IndexerStage;
  readonly index: TestIndex;
  readonly url: string;
  readonly clients: readonly FoldingClient[];
};

/** Some events, and a client of each finality that has them. */
async function openFollowed(seed: number, steps: number): Promise<Followed> {
  const stage = await openIndexerStage(seed, { finalityDepth: FINALITY_DEPTH, reorgDepthMax: 16 });
  onTestFinished(() => stage.chain.stop());
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  onTestFinished(() => index.close());
  const api = await startTestApi(index.database);
  onTestFinished(() => api.close());
  const clients = FINALITIES.map((finality) => new FoldingClient(finality, () => api.url));
  onTestFinished(() => {
    for (const client of clients) client.stop();
  });
  await stage.runSteps(steps);
  const followed = { stage, index, url: api.url, clients };
  await expectFollowed(followed);
  return followed;
}

async function expectFollowed({ stage, index, clients }: Followed): Promise<void> {
  const head = await stage.head();
  await index.waitUntilIndexed(head);
  for (const client of clients) {
    const upTo = client.finality === "instant" ? head.number : head.number - FINALITY_DEPTH;
    await vi.waitFor(() => {
      client.assertSound();
      expect(client.model.complete).toBe(upTo);
    }, PATIENCE);
  }
}

describe("a fork below what is final", () => {
  it(
    "changes nothing for open streams: the index stays where it is, and says why",
    async () => {
      const { stage, index, url, clients } = await openFollowed(31, 8);
      const before = clients.map(({ model }) => model.ids);
      await stage.chain.reorg(FINALITY_DEPTH * 3, { replay: "none", blocks: FINALITY_DEPTH * 3 + 2 });
      await vi.waitFor(
        () => expect(JSON.stringify(index.status.report())).toContain("which was final"),
        PATIENCE,
      );
      // Several looks at the index.
      await pause(2_500);
      for (const [at, client] of clients.entries()) {
        client.assertSound();
        expect([client.model.undoCount, client.connections]).toEqual([0, 1]);
        expect(client.model.ids).toEqual(before[at]);
      }
      const page = await fetch(`${url}/events?limit=1000`);
      expect(page.status).toBe(200);
      const { events } = (await page.json()) as { events: { id: string }[] };
      expect(events.map(({ id }) => id)).toEqual(before[0]);
    },
    TEST_MS_MAX,
  );
});

describe("a rebuild", () => {
  it(
    "swaps the tables under open streams and pages, which show the same events before, after and meanwhile",
    async () => {
      const followed = await openFollowed(32, 60);
      const { stage, index, url, clients } = followed;
      await index.stopIndexing();
      const { owner } = stage.chain.accounts;
      const subjects = Object.keys(EVENT_SUBJECTS).map(
        (subject) => `&${subject}=${subject === "account" ? owner.address.toLowerCase() : 1}`,
      );
      const readAll = async () => {
        const bodies: string[] = [];
        for (const query of ["", ...subjects]) {
          const response = await fetch(`${url}/events?limit=1000${query}`);
          expect(response.status, query).toBe(200);
          bodies.push(await response.text());
        }
        return bodies;
      };
      const before = await readAll();
      expect(new Set(before).size).toBeGreaterThan(3);
      let isRebuilding = true;
      const rebuilt = (async () => {
        for (let times = 0; times < 3; times += 1) await rebuildTestRows(index.database, stage.deployment);
        isRebuilding = false;
      })();
      while (isRebuilding) expect(await readAll()).toEqual(before);
      await rebuilt;
      expect(await readAll()).toEqual(before);
      for (const client of clients) {
        client.assertSound();
        expect([client.model.undoCount, client.connections]).toEqual([0, 1]);
      }
    },
    TEST_MS_MAX,
  );
});
