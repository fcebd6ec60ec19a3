// Who was told of a block is not told of an earlier one afterwards, also before word of the change has arrived.
import { afterAll, beforeAll, expect, it } from "vitest";
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
  const asked = body && { method: "POST", body: JSON.stringify(body) };
  const headers = { "content-type": "application/json" };
  return (await fetch(api.url + path, { ...asked, headers })).headers.get("x-indexed-block");
};

/** As a commit is to those who have not heard of it yet: nobody is told. */
const move = (number: number) =>
  index.database.query({
    text: "update checkpoint set block_number = $1::bigint, block_hash = decode(lpad($1::bigint::text, 64, '0'), 'hex')",
    values: [number],
  });

const TRIES_MAX = 500;

/** Nothing is kept before the API listens to the database; another address for each try. */
async function listening(): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const path = `/disputes?offset=${tries}`;
    // The first answer at another head is not kept.
    await blockOf(path);
    await blockOf(path);
    await move(8);
    const isKept = (await blockOf(path)) === "7";
    await move(7);
    if (isKept) return;
  }
  throw new Error("the API keeps nothing");
}

const ZERO = `0x${"00".repeat(20)}`;

it.each([
  ["an answer", 0, () => blockOf("/merchants")],
  ["a record that is not there", 1, () => blockOf("/agents/1")],
  ["a preflight", 2, () => blockOf("/preflight", { account: ZERO, target: ZERO, value: "0", data: "0x" })],
])("%s from a later block makes what was kept old", async (_name, place, fresh) => {
  await blockOf("/intents");
  expect(await blockOf("/intents")).toBe("7");
  await move(8);
  expect(await blockOf("/intents"), "nobody knows yet").toBe("7");
  expect(await fresh()).toBe("8");
  expect(await blockOf("/intents")).toBe("8");
  await move(7);
  // A reorg may take the block away; then too, whoever tells first makes the rest old.
  expect(await blockOf(`/solvers?limit=${place + 1}`)).toBe("7");
  expect(await blockOf("/intents")).toBe("7");
});
