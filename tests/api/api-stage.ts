// An economy on a chain of its own, indexed live and served over HTTP, so that answers can be asked for as clients do.
import { deploy, LOCAL_GENESIS_CODE } from "../../contracts/deploy/deploy.ts";
import { startLocalChain } from "../../contracts/local-chain/local-chain.ts";
import { playEconomy } from "../../contracts/scenario/economy.ts";
import { scriptedTimeline } from "../../contracts/scenario/timeline.ts";
import { openWorld, type World } from "../../contracts/scenario/world.ts";
import { serveApi } from "../../src/doors/serve-api.ts";
import { createServer } from "../../src/http/server.ts";
import { createLog } from "../../src/kit/log.ts";
import type { Database } from "../../src/store/database.ts";
import { deploymentOf, startTestIndex, type TestIndex } from "../support/test-index.ts";

export type Got = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is what the test says it is.
  readonly body: any;
  readonly headers: Headers;
};

export type ApiStage = {
  readonly world: World;
  readonly database: Database;
  readonly index: TestIndex;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Got>;
  /** Plays some steps with people of their own; does not wait for the index. */
  play(steps: number): Promise<void>;
  /** Waits until the API answers from the chain's head, and tells its number. */
  level(): Promise<number>;
  close(): Promise<void>;
};

const quiet = createLog({ level: "silent", terminal: false, name: "test" });

// 2026-01-01: the chain's time is scripted, so that deadlines pass when the economy says so.
const GENESIS = 1_767_225_600n;
const START = GENESIS + 3_600n;
// The economy's cast is forty people; a hundred keeps the acts apart.
const CAST_SIZE = 100;
const FIRST_CAST = 1_000;
const LEVEL_MS_MAX = 20_000;

export async function openApiStage(seed: number, options: { finalityDepth: number }): Promise<ApiStage> {
  const chain = await startLocalChain({
    chainId: 31_337,
    genesisTimestamp: GENESIS,
    reorgDepthMax: 0,
    code: LOCAL_GENESIS_CODE,
    finalityDepth: options.finalityDepth,
  });
  const { request } = chain;
  const deployment = await deploy({ request, owner: chain.accounts.owner });
  const timeline = await scriptedTimeline(request, { start: START });
  const world = await openWorld({ request, deployment, timeline, seed });
  const index = await startTestIndex({
    urls: [chain.rpcUrl, chain.wsUrl],
    deployment: deploymentOf(deployment),
  });
  const { database } = index;
  const server = createServer({
    log: quiet,
    bodyBytesMax: 262_144,
    requestMsMax: 10_000,
    ready: async () => ({ ready: true }),
  });
  const api = serveApi(server.app, { database, log: quiet });
  const url = await server.listen({ host: "127.0.0.1", port: 0, variable: "API_PORT" });
  let acts = 0;

  const get: ApiStage["get"] = async (path, headers = {}) => {
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? null : JSON.parse(text),
      headers: response.headers,
    };
  };
  return {
    world,
    database,
    index,
    get,
    async play(steps) {
      acts += 1;
      await playEconomy({
        world,
        seed: seed + acts,
        steps,
        firstCastIndex: FIRST_CAST + acts * CAST_SIZE,
      });
    },
    async level() {
      const head = (await request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
      const number = Number(head.number);
      await index.reach({ number, hash: String(head.hash) });
      // What the API has kept is forgotten a moment after the index has moved on.
      const until = Date.now() + LEVEL_MS_MAX;
      for (;;) {
        const { headers } = await get("/analytics/commerce");
        if (headers.get("x-indexed-block") === String(number)) return number;
        if (Date.now() > until) throw new Error(`the API does not answer from block ${number}`);
      }
    },
    async close() {
      await server.close();
      await api.close();
      await index.close();
      await chain.stop();
    },
  };
}
