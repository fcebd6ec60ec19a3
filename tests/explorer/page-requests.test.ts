// A page costs at most five requests to the API, each of them about one statement, at the head and as of a block.
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ApiReader } from "../../src/explorer/api-reader.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { readSharedHistory, SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { findExamplePaths } from "./explorer-stage.ts";

const REQUESTS_MAX = 5;
// Pages of events need the deployment and the head besides their logs.
const STATEMENTS_MAX = 8;

let api: TestApi;
let head: number;
let close: () => Promise<void>;

beforeAll(async () => {
  const history = await readSharedHistory();
  const place = await createTestDatabase({ template: history.template });
  const database = await openTestConnection(place.connection);
  // Without a cache, so that every page is read.
  api = await startTestApi(database, { cacheBytesMax: 0 });
  head = history.head;
  close = async () => {
    await api.close();
    await database.close();
    await place.drop();
  };
}, SHARED_HISTORY_MS_MAX);
afterAll(() => close?.());

it("reads every page with at most five requests, cold", async () => {
  const requests = vi.spyOn(ApiReader.prototype, "countRequest");
  const statements = vi.spyOn(pg.Client.prototype, "query");
  const costs: string[] = [];
  const costly: string[] = [];
  for (const { path } of await findExamplePaths(api.url)) {
    for (const target of [path, `${path}${path.includes("?") ? "&" : "?"}block=${head}`]) {
      requests.mockClear();
      statements.mockClear();
      expect((await fetch(api.url + target, { redirect: "manual" })).status, target).toBeLessThan(400);
      const cost = `${target}: ${requests.mock.calls.length} requests, ${statements.mock.calls.length} statements`;
      costs.push(cost);
      const isCostly =
        requests.mock.calls.length > REQUESTS_MAX || statements.mock.calls.length > STATEMENTS_MAX;
      if (isCostly || requests.mock.calls.length === 0) costly.push(cost);
    }
  }
  expect(costly).toEqual([]);
  expect(costs.length).toBeGreaterThan(60);
});
