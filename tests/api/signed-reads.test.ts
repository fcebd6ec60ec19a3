// Signed reads of the indexing API: on request or always, signed once for each cached URL, checked with the listed keys.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ResponseSigner } from "../../src/http/signing/response-signer.ts";
import { openApiClient } from "../support/http/api-client.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { createTestKeys, isSignedFor } from "../support/signing/test-keys.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

const KEYS_PATH = "/.well-known/http-message-signatures-directory";
let stage: ReadStage;
let api: TestApi;
let signsAll: TestApi;
let unsigned: TestApi;
let keys: unknown;

beforeAll(async () => {
  stage = await openReadStage();
  const signing = { keys: createTestKeys(), signsAll: false };
  api = await startTestApi(stage.database, { signing });
  signsAll = await startTestApi(stage.database, { signing: { ...signing, signsAll: true } });
  unsigned = await startTestApi(stage.database);
  for (const { url } of [api, signsAll]) await waitForCache(url);
  keys = await (await fetch(api.url + KEYS_PATH)).json();
});
afterAll(async () => {
  for (const each of [api, signsAll, unsigned]) await each?.close();
  await stage?.close();
});

const signed = vi.spyOn(ResponseSigner.prototype, "sign");

/** Until the API hears of changes, it caches nothing. */
async function waitForCache(url: string): Promise<void> {
  await vi.waitFor(async () => {
    signed.mockClear();
    for (let each = 0; each < 2; each += 1) await fetch(`${url}/head?signed=1`);
    expect(signed.mock.calls.length).toBeLessThan(2);
  }, 10_000);
}

beforeEach(() => void signed.mockClear());

describe("a read with signed=1", () => {
  it.each([
    "/intents?limit=2&signed=1",
    "/agents/1?signed=1",
    "/integrity?signed=1",
    "/intents?signed=1&limit=1&include=provenance",
  ])("%s is signed for its own URL, and for no other", async (path) => {
    const response = await fetch(api.url + path);
    expect(response.status).toBe(200);
    expect(await isSignedFor(response, { url: api.url + path, keys })).toBe(true);
    for (const other of [`${api.url}${path}&limit=3`, `${unsigned.url}${path}`, `${api.url}/head?signed=1`]) {
      expect(await isSignedFor(response, { url: other, keys })).toBe(false);
    }
    expect(await isSignedFor(response, { method: "HEAD", url: api.url + path, keys })).toBe(false);
  });

  it("has the body of the same read without a signature", async () => {
    const bodies = await Promise.all(
      [
        `${api.url}/intents?limit=2&signed=1`,
        `${unsigned.url}/intents?limit=2&signed=1`,
        `${api.url}/intents?limit=2`,
      ].map(async (url) => (await fetch(url)).text()),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it("is signed once for each URL, and shares the read with other spellings", async () => {
    const spellings = ["/intents?limit=3&signed=1", "/intents?signed=1&limit=3"];
    const first = await Promise.all(spellings.map((path) => fetch(api.url + path)));
    for (const [at, response] of first.entries()) {
      expect(await isSignedFor(response, { url: api.url + spellings[at], keys })).toBe(true);
    }
    expect(signed).toHaveBeenCalledTimes(2);
    const again = await Promise.all(spellings.map((path) => fetch(api.url + path)));
    expect(signed).toHaveBeenCalledTimes(2);
    expect(again.map(({ headers }) => headers.get("signature"))).toEqual(
      first.map(({ headers }) => headers.get("signature")),
    );
  });

  it("signs what has unknown keys without keeping it", async () => {
    const url = `${api.url}/intents?limit=3&signed=1&else=1`;
    for (let each = 0; each < 2; each += 1) {
      expect(await isSignedFor(await fetch(url), { url, keys })).toBe(true);
    }
    expect(signed).toHaveBeenCalledTimes(2);
  });

  it("is sent whole to a client that has it already", async () => {
    const plain = await fetch(`${api.url}/intents?limit=2`);
    const headers = { "if-none-match": plain.headers.get("etag") ?? "" };
    expect((await fetch(`${api.url}/intents?limit=2`, { headers })).status).toBe(304);
    const url = `${api.url}/intents?limit=2&signed=1`;
    expect(
      await isSignedFor(await fetch(url, { headers: { ...headers, "if-none-match": "*" } }), { url, keys }),
    ).toBe(true);
  });
});

it.each([
  ["/agents/999999?signed=1", 404],
  ["/intents?limit=none&signed=1", 400],
])("signs an error as well: %s", async (path, status) => {
  const response = await fetch(api.url + path);
  expect(response.status).toBe(status);
  expect(await isSignedFor(response, { url: api.url + path, keys })).toBe(true);
});

it("leaves all other responses unsigned", async () => {
  for (const origin of [`${api.url}/head?signed=1`, `${signsAll.url}/head`]) {
    const head = await fetch(origin, { method: "HEAD" });
    expect([head.status, head.headers.get("content-digest")]).toEqual([200, null]);
  }
  signed.mockClear();
  for (const path of [
    "/intents?limit=2",
    "/intents?signed=0",
    "/intents?signed=11",
    "/health",
    "/integrity",
  ]) {
    const response = await fetch(api.url + path);
    expect([path, response.headers.get("signature")]).toEqual([path, null]);
  }
  const body = JSON.stringify({});
  const preflight = await fetch(`${api.url}/preflight?signed=1`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  expect(preflight.headers.get("signature")).toBeNull();
  expect(signed).not.toHaveBeenCalled();
});

it("signs all reads if it is set to, and again only for a further URL", async () => {
  const urls = ["/intents?limit=2", "/intents?limit=2", "/integrity"].map((path) => signsAll.url + path);
  for (const url of urls) expect(await isSignedFor(await fetch(url), { url, keys })).toBe(true);
  expect(signed).toHaveBeenCalledTimes(2);
});

it("signs a read whose URL a tool has read before, without a signature", async () => {
  const params = { name: "get_agent", arguments: { agentId: "2" } };
  const called = await fetch(`${signsAll.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(await called.text()).not.toContain('"isError":true');
  expect(signed).not.toHaveBeenCalled();
  const url = `${signsAll.url}/agents/2`;
  expect(await isSignedFor(await fetch(url), { url, keys })).toBe(true);
});

it("has no keys to list without keys, and ignores the wish for a signature", async () => {
  for (const path of [KEYS_PATH, "/.well-known/did.json"]) {
    expect((await fetch(unsigned.url + path)).status).toBe(404);
  }
  expect((await fetch(`${unsigned.url}/intents?signed=1`)).headers.get("signature")).toBeNull();
});

it("describes its keys and signatures in its own document", async () => {
  const client = await openApiClient(api.url);
  expect(client.document.info.description).toContain("signed=1");
  const did = (await client.call("/.well-known/did.json")).body as { id: string };
  expect(did.id).toBe(`did:web:${encodeURIComponent(new URL(api.url).host)}`);
  await client.call("/intents?limit=1&signed=1");
});
