// Who was told of a block is not told of an earlier one afterwards, also before word of the change has arrived.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EmptyIndex, openEmptyIndex } from "../support/empty-index.ts";
import { startTestApi, type TestApi } from "../support/test-api.ts";

let index: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  index = await openEmptyIndex();
  api = await startTestApi(index.database);
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

/** Asked until it is kept: once somebody listens to the database, the second answer is. */
async function kept(path: string): Promise<void> {
  await expect
    .poll(async () => {
      const response = await fetch(api.url + path);
      await move(1_000);
      const again = await fetch(api.url + path);
      await move(7);
      return [response, again].map(({ headers }) => headers.get("x-indexed-block"));
    })
    .toEqual(["7", "7"]);
}

const ZERO = `0x${"00".repeat(20)}`;

it.each([
  ["an answer", () => blockOf("/merchants")],
  ["a record that is not there", () => blockOf("/agents/1")],
  [
    "a preflight",
    () => blockOf("/preflight", { account: ZERO, target: ZERO, value: "0", data: "0x" }),
  ],
])("%s from a later block makes what was kept old", async (_name, fresh) => {
  await kept("/intents");
  await move(8);
  expect(await blockOf("/intents"), "nobody knows yet").toBe("7");
  expect(await fresh()).toBe("8");
  expect(await blockOf("/intents")).toBe("8");
  await move(7);
  expect(await blockOf("/solvers")).toBe("7");
});
