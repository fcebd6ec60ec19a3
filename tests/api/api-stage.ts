// A simulated chain, indexed and served over HTTP, for tests that send requests as clients do.
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { scriptedTimeline } from "@sextant/simulator/timeline";
import { openWorld } from "@sextant/simulator/world";
import { expect } from "vitest";
import type { Database } from "../../src/store/postgres/database.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { type ApiClient, type ApiResponse, openApiClient } from "../support/http/api-client.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";
import { startTestIndex, toDeployment } from "../support/index/test-index.ts";

/** A record of a response; the tests check its values. */
export type ApiRecord = Readonly<Record<string, unknown>>;
type ApiPage = {
  readonly records: readonly ApiRecord[];
  readonly pagination: { limit: number; offset: number; count: number; next_cursor?: string };
  /** The keys of the body, in order. */
  readonly keys: readonly string[];
};

/** Over a copy of the history that all files share. */
export type ReadStage = {
  readonly database: Database;
  readonly url: string;
  readonly client: ApiClient;
  /** Every registered route, as `GET /agents/:agentId`. */
  readonly routes: readonly string[];
  /** Sends a request; checks every response against the OpenAPI document. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ApiResponse>;
  /** The body of a response that must be 200. */
  body<T = ApiRecord>(path: string): Promise<T>;
  /** A page of a list with its records under `key`. */
  page(path: string, key: string): Promise<ApiPage>;
  /** All records of a list, page by page with cursors. */
  pages(path: string, key: string, limit: number): Promise<readonly ApiRecord[]>;
  rows(text: string): Promise<readonly Readonly<Record<string, string>>[]>;
  /** The first row of a query that must return one. */
  first(text: string): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
};

/** Over a chain of its own, indexed live. */
export type ApiStage = ReadStage & {
  /** Runs simulator steps with new accounts; does not wait for the index. */
  play(steps: number): Promise<void>;
  /** Waits until the API serves the chain's head and returns its number. */
  waitUntilSynced(): Promise<number>;
};

// 2026-01-01: chain time is scripted, so that deadlines pass when the simulator wants them to.
const GENESIS = 1_767_225_600n;
const START = GENESIS + 3_600n;
// The simulator uses forty accounts; a distance of a hundred keeps runs apart.
const ACCOUNTS_PER_RUN = 100;
const FIRST_ACCOUNT = 1_000;
const SYNC_MS_MAX = 20_000;

export async function openReadStage(): Promise<ReadStage> {
  const { template } = await readSharedHistory();
  const place = await createTestDatabase({ template });
  const database = await openTestConnection(place.connection);
  const stage = await serveDatabase(database);
  return {
    ...stage,
    async close() {
      await stage.close();
      await database.close();
      await place.drop();
    },
  };
}

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
  const timeline = await scriptedTimeline(request, START);
  const world = await openWorld({ request, deployment, timeline, seed });
  const index = await startTestIndex({
    urls: [chain.rpcUrl, chain.wsUrl],
    deployment: toDeployment(deployment),
  });
  const stage = await serveDatabase(index.database);
  let runs = 0;
  return {
    ...stage,
    async play(steps) {
      runs += 1;
      await runSimulator({
        world,
        seed: seed + runs,
        steps,
        firstAccountIndex: FIRST_ACCOUNT + runs * ACCOUNTS_PER_RUN,
      });
    },
    async waitUntilSynced() {
      const head = (await request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
      const number = Number(head.number);
      await index.waitUntilIndexed({ number, hash: String(head.hash) });
      // The API drops cached responses a moment after the index has advanced.
      const until = Date.now() + SYNC_MS_MAX;
      for (;;) {
        const { headers } = await stage.get("/analytics/commerce");
        if (headers.get("x-indexed-block") === String(number)) return number;
        if (Date.now() > until) throw new Error(`the API does not serve block ${number}`);
      }
    },
    async close() {
      await stage.close();
      await index.close();
      await chain.stop();
    },
  };
}

/** Closing it leaves the database open. */
async function serveDatabase(database: Database): Promise<ReadStage> {
  const api = await startTestApi(database);
  const client = await openApiClient(api.url);
  const get: ReadStage["get"] = (path, headers = {}) => client.call(path, { headers });
  const body = async <T>(path: string): Promise<T> => {
    const response = await get(path);
    expect(response.status, `${path} ${response.text}`).toBe(200);
    return response.body as T;
  };
  const page = async (path: string, key: string): Promise<ApiPage> => {
    const response = await body<ApiRecord>(path);
    const { pagination, [key]: records } = response as ApiRecord & Pick<ApiPage, "pagination">;
    return { records: records as readonly ApiRecord[], pagination, keys: Object.keys(response) };
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
      if (!row) throw new Error(`the simulator created nothing for: ${text}`);
      return row;
    },
    close: api.close,
  };
}
