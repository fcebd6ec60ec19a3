// GET /integrity as a signed statement: the head and the state of the last audit, under a key that the reader knows.
import { verify } from "@sextant/client/verify/verify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertAudit } from "../../src/store/index/integrity.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

let stage: ReadStage;
let api: TestApi;
beforeAll(async () => {
  stage = await openReadStage();
  api = await startTestApi(stage.database, { signing: { keys: createTestKeys(), signsAll: false } });
});
afterAll(async () => {
  await api?.close();
  await stage?.close();
});

type Statement = {
  readonly indexed: Readonly<Record<string, string>>;
  readonly audits: { readonly latest: readonly Readonly<Record<string, unknown>>[] };
};

it("states the head and the last audit with its block, result and time, signed for its URL", async () => {
  const audit = {
    source: "command",
    kind: "rows",
    checked: 40,
    differences: 0,
    firstDifference: null,
  } as const;
  await stage.database.transaction((session) =>
    insertAudit(session, { ...audit, block: 7, version: "1.0.0" }),
  );
  const url = `${api.url}/integrity?signed=1`;
  const response = await fetch(url);
  const body = await response.text();
  const statement = JSON.parse(body) as Statement;
  const { number, hash } = await stage.first(
    "select block_number::text as number, hex_text(block_hash) as hash from checkpoint",
  );
  expect(statement.indexed).toMatchObject({ block_number: number, block_hash: hash });
  expect(statement.audits.latest).toContainEqual(
    expect.objectContaining({ kind: "rows", block_number: "7", differences: "0", at: expect.any(String) }),
  );
  const keys = [await (await fetch(`${api.url}/.well-known/http-message-signatures-directory`)).json()];
  const { headers, status } = response;
  const request = { method: "GET", url };
  const result = await verify({ body, headers, status, request }, { keys });
  expect(result).toMatchObject({ ok: true, signer: expect.any(String) });
  const lie = body.replace(`"block_number":"${number}"`, `"block_number":"${BigInt(number ?? 0) + 1n}"`);
  expect(lie).not.toBe(body);
  expect((await verify({ body: lie, headers, status, request }, { keys })).ok).toBe(false);
});
