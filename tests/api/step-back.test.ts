// A client never sees an earlier block after a later one, even before the change notification arrives.
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildChangeNotification } from "../../src/store/postgres/change-notifications.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let index: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  index = await openEmptyIndex();
  api = await startTestApi(index.database);
  await listening();
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});

const blockOf = async (path: string, body?: object) => {
  const init = body && { method: "POST", body: JSON.stringify(body) };
  const headers = { "content-type": "application/json" };
  return (await fetch(api.url + path, { ...init, headers })).headers.get("x-indexed-block");
};

/** Commits without a notification, as other processes see it before theirs arrives. */
const move = (number: number) =>
  index.database.query({
    text: "update checkpoint set block_number = $1::bigint, block_hash = decode(lpad($1::bigint::text, 64, '0'), 'hex')",
    values: [number],
  });

const TRIES_MAX = 500;

/** Waits until the API caches, which needs its notification connection. Uses a new URL for each attempt. */
async function listening(): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const path = `/disputes?offset=${tries}`;
    // The first response at a new head is not cached.
    await blockOf(path);
    await blockOf(path);
    await move(8);
    const isCached = (await blockOf(path)) === "7";
    await move(7);
    if (isCached) return;
  }
  throw new Error("the API keeps nothing");
}

const ZERO = `0x${"00".repeat(20)}`;

it.each([
  ["a response", 0, () => blockOf("/merchants")],
  ["a record that is not there", 1, () => blockOf("/agents/1")],
  ["a preflight", 2, () => blockOf("/preflight", { account: ZERO, target: ZERO, value: "0", data: "0x" })],
])("%s from a later block invalidates cached responses", async (_name, place, fresh) => {
  await blockOf("/intents");
  expect(await blockOf("/intents")).toBe("7");
  await move(8);
  expect(await blockOf("/intents"), "still cached").toBe("7");
  expect(await fresh()).toBe("8");
  expect(await blockOf("/intents")).toBe("8");
  await move(7);
  // After a reorg too, the first response from another head invalidates the rest.
  expect(await blockOf(`/solvers?limit=${place + 1}`)).toBe("7");
  expect(await blockOf("/intents")).toBe("7");
});

/** The checkpoint as new tables have it: its revision does not continue that of the old ones. */
const recreate = (revision: number) =>
  index.database.transaction(async (session) => {
    await session.query("delete from checkpoint");
    await session.query({
      text: `insert into checkpoint (block_number, block_hash, block_timestamp, finalized_block, revision)
        values (7, '\\x07', 1700000000, 0, $1)`,
      values: [revision],
    });
    await session.query(buildChangeNotification(index.database.schema));
  });

it("keeps responses of an index that was created again, whose revisions start again", async () => {
  await recreate(1_000_000);
  await listening();
  await recreate(0);
  await listening();
});
