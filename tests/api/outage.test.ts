// The API reports a lost database and recovers when it is back, without a restart.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/store/postgres/database.ts";
import {
  type BreakableConnection,
  openBreakableConnection,
} from "../support/database/breakable-connection.ts";
import { type ApiClient, type ApiResponse, openApiClient } from "../support/http/api-client.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex, openTestConnection } from "../support/index/empty-index.ts";

let index: EmptyIndex;
let wire: BreakableConnection;
let database: Database;
let api: TestApi;
let client: ApiClient;

beforeAll(async () => {
  index = await openEmptyIndex();
  wire = await openBreakableConnection(index.connection);
  database = await openTestConnection(wire.connection);
  api = await startTestApi(database, { requestMsMax: 1_500 });
  client = await openApiClient(api.url);
});

afterAll(async () => {
  await api?.close();
  await database?.close();
  await wire?.close();
  await index?.drop();
});

const ZERO = `0x${"00".repeat(20)}`;
// Requests of a new round are in no cache: a cached response needs no database until a block or a write replaces it.
let round = 0;
const requests = () =>
  [
    ["GET", `/intents?limit=${round}`],
    ["GET", "/agents/1"],
    ["GET", `/analytics/commerce?block=${round}`],
    ["GET", `/attestations/schemas?limit=${round}`],
    ["GET", `/catalogs/0x${"11".repeat(32)}`],
    ["POST", "/preflight", { account: ZERO, target: ZERO, value: "0", data: "0x" }],
    ["POST", "/catalogs", { catalog_json: "{}" }],
    ["PUT", "/intents/1/metadata", {}],
  ] as const;

// Maximum time to the first response after the database is back: pending connections, then a new one.
const RECOVERY_MS_MAX = 10_000;

function sendAll(): Promise<readonly ApiResponse[]> {
  return Promise.all(
    requests().map(([method, target, body]) => client.call(target, { method, ...(body ? { body } : {}) })),
  );
}

async function statuses(): Promise<readonly number[]> {
  return (await sendAll()).map(({ status }) => status);
}

/** The statuses once none of them is 503, or the last ones. A busy machine needs more than one try, too. */
async function untilHealthy(): Promise<readonly number[]> {
  const until = Date.now() + RECOVERY_MS_MAX;
  let seen = await statuses();
  while (seen.includes(503) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen = await statuses();
  }
  return seen;
}

const HEALTHY = [200, 404, 200, 200, 404, 200, 201, 404];

describe.each(["cut", "silence"] as const)("when the connection to the database suffers a %s", (damage) => {
  it("responds 503 with one sentence and recovers by itself", async () => {
    round += 1;
    expect(await untilHealthy()).toEqual(HEALTHY);
    wire[damage]();
    round += 1;
    const responses = await sendAll();
    expect(responses.map(({ status }) => status)).toEqual(HEALTHY.map(() => 503));
    for (const { body } of responses) {
      expect((body as { error: string }).error).not.toMatch(/127\.0\.0\.1|postgres:|DATABASE_URL/);
    }
    expect((await client.call("/health")).status).toBe(200);
    wire.mend();
    expect(await untilHealthy()).toEqual(HEALTHY);
  });
});
