// An economy on a chain of its own, indexed live and served over HTTP, so that answers can be asked for as clients do.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { scriptedTimeline } from "@sextant/simulator/timeline";
import { openWorld } from "@sextant/simulator/world";
import { expect } from "vitest";
import type { Database } from "../../src/store/postgres/database.ts";
import { type ApiClient, type ApiResponse, openApiClient } from "../support/http/api-client.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { startTestIndex, toDeployment } from "../support/index/test-index.ts";

/** A record of an answer; what its values are is for the test to say. */
export type ApiRecord = Readonly<Record<string, unknown>>;
export type ApiPage = {
  readonly records: readonly ApiRecord[];
  readonly pagination: { limit: number; offset: number; count: number; next_cursor?: string };
  /** The keys of the answer, in order. */
  readonly keys: readonly string[];
};

export type ApiStage = {
  readonly database: Database;
  readonly url: string;
  readonly client: ApiClient;
  /** Every registered route, as `GET /agents/:agentId`. */
  readonly routes: readonly string[];
  /** Asks; every answer is held against the API's own description. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ApiResponse>;
  /** The body of an answer that must be there. */
  body<T = ApiRecord>(path: string): Promise<T>;
  /** A page of a list, whose records are under `key`. */
  page(path: string, key: string): Promise<ApiPage>;
  /** All records of a list, page after page by cursor. */
  pages(path: string, key: string, limit: number): Promise<readonly ApiRecord[]>;
  rows(text: string): Promise<readonly Readonly<Record<string, string>>[]>;
  /** The first row of what must have some. */
  first(text: string): Promise<Readonly<Record<string, string>>>;
  /** Plays some steps with people of their own; does not wait for the index. */
  play(steps: number): Promise<void>;
  /** Waits until the API answers from the chain's head, and tells its number. */
  waitUntilSynced(): Promise<number>;
  close(): Promise<void>;
};

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
    deployment: toDeployment(deployment),
  });
  const { database } = index;
  const api = await startTestApi(database);
  const client = await openApiClient(api.url);
  let acts = 0;

  const get: ApiStage["get"] = (path, headers = {}) => client.call(path, { headers });
  const body = async <T>(path: string): Promise<T> => {
    const answer = await get(path);
    expect(answer.status, `${path} ${answer.text}`).toBe(200);
    return answer.body as T;
  };
  const page = async (path: string, key: string): Promise<ApiPage> => {
    const answer = await body<ApiRecord>(path);
    const { pagination, [key]: records } = answer as ApiRecord & Pick<ApiPage, "pagination">;
    return { records: records as readonly ApiRecord[], pagination, keys: Object.keys(answer) };
  };
  const rows = async (text: string) => (await database.query<Record<string, string>>(text)).rows;

  return {
    database,
    url: api.url,
    client,
    routes: api.routes,
    get,
    body,
    page,
    async pages(path, key, limit) {
      const all: ApiRecord[] = [];
      for (let cursor = ""; ; ) {
        const { records, pagination } = await page(
          `${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor}`,
          key,
        );
        expect(pagination).toMatchObject({ limit, offset: 0, count: records.length });
        all.push(...records);
        if (pagination.next_cursor === undefined) return all;
        expect(records).toHaveLength(limit);
        cursor = `&cursor=${pagination.next_cursor}`;
      }
    },
    rows,
    async first(text) {
      const [row] = await rows(text);
      if (!row) throw new Error(`the economy has left nothing for: ${text}`);
      return row;
    },
    async play(steps) {
      acts += 1;
      await runSimulator({
        world,
        seed: seed + acts,
        steps,
        firstAccountIndex: FIRST_CAST + acts * CAST_SIZE,
      });
    },
    async waitUntilSynced() {
      const head = (await request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
      const number = Number(head.number);
      await index.waitUntilIndexed({ number, hash: String(head.hash) });
      // What the API has kept is forgotten a moment after the index has moved on.
      const until = Date.now() + LEVEL_MS_MAX;
      for (;;) {
        const { headers } = await get("/analytics/commerce");
        if (headers.get("x-indexed-block") === String(number)) return number;
        if (Date.now() > until) throw new Error(`the API does not answer from block ${number}`);
      }
    },
    async close() {
      await api.close();
      await index.close();
      await chain.stop();
    },
  };
}
