// Hosted documents: published once, fetched by hash byte for byte, and owned by their first publisher.
import fc from "fast-check";
import { keccak256, stringToBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { Fault } from "../../lib/fault.ts";
import type { Endpoint, EndpointRequest, EndpointResponse } from "../../schema/endpoint.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { createDocumentEndpoints } from "./endpoints.ts";

let database: Database;
let drop: () => Promise<void>;
let endpoints: readonly Endpoint[];

beforeAll(async () => {
  const opened = await openTestDatabase();
  database = opened.database;
  drop = opened.drop;
  endpoints = createDocumentEndpoints({
    store: openRecordStore(database),
    publicBaseUrl: () => "https://index.example/v1",
  });
});
afterAll(() => drop());

const hashOf = (text: string) => keccak256(stringToBytes(text));
const NOTHING: EndpointRequest = {
  values: {},
  rawBody: Buffer.alloc(0),
  body: undefined,
  headers: {},
  client: "192.0.2.1",
  isHead: false,
  minBlock: null,
};

function call(operationId: string, given: Partial<EndpointRequest>): Promise<EndpointResponse> {
  const endpoint = endpoints.find((each) => each.operationId === operationId);
  if (!endpoint) throw new Error(`no endpoint ${operationId}`);
  return endpoint.handle({ ...NOTHING, ...given });
}

const publish = (kind: string, body: unknown) => call(`publish${kind}`, { body });
const fetchByHash = (operation: string, hash: string) => call(operation, { values: { hash } });
const fault = (promise: Promise<unknown>): Promise<[string, string]> =>
  promise.then(
    () => ["none", ""],
    (error: unknown) => {
      if (error instanceof Fault) return [error.code, error.message];
      throw error;
    },
  );

describe("publishing", () => {
  it("returns the record fields of each kind, in order", async () => {
    const agent = `0x${"Ab".repeat(20)}`;
    const catalog = await publish("Catalog", {
      catalog_json: '{"c":1}',
      merchant_id: "7",
      service_id: "svc",
    });
    const hash = hashOf('{"c":1}');
    expect(catalog.status).toBe(201);
    expect(JSON.stringify(catalog.body)).toBe(
      `{"catalog_hash":"${hash}","merchant_id":"7","service_id":"svc","size_bytes":7,"uri":"https://index.example/v1/catalogs/${hash}"}`,
    );
    const labels = { request_id: "r-1", merchant_id: "7", service_numeric_id: "9", agent };
    const request = await publish("QuoteRequest", { quote_request_json: "[1]", service_id: "s", ...labels });
    expect(Object.entries(request.body as object)).toEqual([
      ["request_hash", hashOf("[1]")],
      ["request_id", "r-1"],
      ["merchant_id", "7"],
      ["service_numeric_id", "9"],
      ["service_id", "s"],
      ["agent", agent.toLowerCase()],
      ["size_bytes", 3],
      ["uri", `https://index.example/v1/quote-requests/${hashOf("[1]")}`],
    ]);
    const response = await publish("QuoteResponse", {
      quote_response_json: "[2]",
      request_hash: hashOf("[1]").toUpperCase().replace("0X", "0x"),
      ...labels,
    });
    expect(Object.entries(response.body as object)).toEqual([
      ["response_hash", hashOf("[2]")],
      ["request_hash", hashOf("[1]")],
      ["request_id", "r-1"],
      ["merchant_id", "7"],
      ["service_numeric_id", "9"],
      ["agent", agent.toLowerCase()],
      ["size_bytes", 3],
      ["uri", `https://index.example/v1/quote-responses/${hashOf("[2]")}`],
    ]);
  });

  it("takes the labels of a quote document from itself if they are not given with it", async () => {
    const agent = `0x${"Cd".repeat(20)}`;
    const own = { request_id: "own-1", merchant_id: 7, service_numeric_id: "9", service_id: "", agent };
    const request = await publish("QuoteRequest", {
      quote_request_json: JSON.stringify(own),
      merchant_id: "8",
    });
    const expected = {
      request_id: "own-1",
      service_numeric_id: "9",
      service_id: null,
      agent: agent.toLowerCase(),
    };
    expect(request.body).toMatchObject({ ...expected, merchant_id: "8" });
    const { request_hash } = request.body as { request_hash: string };
    const text = JSON.stringify({ request_hash, request_id: "own-1", merchant_id: "x", agent: 5 });
    const response = await publish("QuoteResponse", { quote_response_json: text });
    // Other fields of the document are not checked.
    const labels = { request_hash, request_id: "own-1", merchant_id: null, agent: null };
    expect(response.body).toMatchObject(labels);
    const elsewhere = JSON.stringify({ request_hash: hashOf("elsewhere"), merchant_id: 2 ** 60 });
    const { body } = await publish("QuoteResponse", { quote_response_json: elsewhere });
    expect(body).toMatchObject({ request_hash: null, merchant_id: null });
    const catalog = await publish("Catalog", { catalog_json: '{"merchant_id":"7"}' });
    expect(catalog.body).toMatchObject({ merchant_id: null });
  });

  it("requires only the text; absent labels are null", async () => {
    const { body } = await publish("Catalog", { catalog_json: '{"only":"text"}', merchant_id: null });
    expect(body).toMatchObject({ merchant_id: null, service_id: null });
  });

  it("returns the first record when the same text is published again", async () => {
    const first = await publish("Catalog", { catalog_json: '{"mine":1}', merchant_id: "1" });
    const again = await publish("Catalog", {
      catalog_json: '{"mine":1}',
      merchant_id: "666",
      service_id: "x",
    });
    expect(again).toEqual(first);
    const { body } = await fetchByHash("getCatalogMetadata", hashOf('{"mine":1}'));
    expect(body).toMatchObject({ merchant_id: "1", service_id: null });
  });

  it("restarts the expiry period when a text is published again after days", async () => {
    const hash = hashOf('{"renewed":1}');
    const first = await publish("Catalog", { catalog_json: '{"renewed":1}', merchant_id: "1" });
    await database.query({
      text: "update documents set referred_at = now() - interval '29 days' where hash = $1",
      values: [hash],
    });
    expect(await publish("Catalog", { catalog_json: '{"renewed":1}', merchant_id: "2" })).toEqual(first);
    const { rows } = await database.query<{ recent: boolean }>({
      text: "select referred_at > now() - interval '1 hour' as recent from documents where hash = $1",
      values: [hash],
    });
    expect(rows).toEqual([{ recent: true }]);
  });

  it.each([
    ['{"name":" Quay ","more":1}', "Quay"],
    ['{"name":"a\\u0000b"}', null],
    ['{"name":"\\ud800"}', null],
    [JSON.stringify({ name: "x".repeat(81) }), null],
    ['{"name":{"name":"x"}}', null],
    ['["name"]', null],
  ])("keeps the short name that a document gives itself (%#)", async (text, name) => {
    await publish("Catalog", { catalog_json: text });
    const read = () =>
      database.query<{ name: string | null }>({
        text: "select name from documents where hash = $1",
        values: [hashOf(text)],
      });
    expect((await read()).rows).toEqual([{ name }]);
    // As the version before left it.
    await database.query({
      text: "update documents set name = null, referred_at = now() - interval '2 days' where hash = $1",
      values: [hashOf(text)],
    });
    await publish("Catalog", { catalog_json: text });
    expect((await read()).rows).toEqual([{ name }]);
  });

  it("stores one record for twenty concurrent publications of a text", async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        publish("Catalog", { catalog_json: '{"race":1}', merchant_id: `${i}` }),
      ),
    );
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    const { rows } = await database.query<{ count: string }>({
      text: "select count(*) from documents where hash = $1",
      values: [hashOf('{"race":1}')],
    });
    expect(rows[0]?.count).toBe("1");
  });

  it("stores the same text separately per kind", async () => {
    await publish("Catalog", { catalog_json: '{"both":1}' });
    await publish("QuoteRequest", { quote_request_json: '{"both":1}' });
    const { body } = await fetchByHash("getQuoteRequestMetadata", hashOf('{"both":1}'));
    expect(body).toMatchObject({ request_hash: hashOf('{"both":1}') });
  });

  it("rejects a wrong expected_hash and names the actual hash", async () => {
    const mismatch = publish("Catalog", { catalog_json: '{"e":1}', expected_hash: `0x${"00".repeat(32)}` });
    expect(await fault(mismatch)).toEqual(["HASH_MISMATCH", expect.stringContaining(hashOf('{"e":1}'))]);
    expect((await fault(fetchByHash("getCatalog", hashOf('{"e":1}'))))[0]).toBe("NOT_FOUND");
    const right = {
      catalog_json: '{"e":1}',
      expected_hash: hashOf('{"e":1}').toUpperCase().replace("0X", "0x"),
    };
    expect((await publish("Catalog", right)).status).toBe(201);
  });

  it("requires the quote request that a response names", async () => {
    const body = { quote_response_json: '{"q":1}', request_hash: hashOf("nowhere") };
    expect((await fault(publish("QuoteResponse", body)))[0]).toBe("NOT_FOUND");
    await publish("Catalog", { catalog_json: '"a catalog is not a quote request"' });
    const wrong = { ...body, request_hash: hashOf('"a catalog is not a quote request"') };
    expect((await fault(publish("QuoteResponse", wrong)))[0]).toBe("NOT_FOUND");
  });

  it.each([
    ["Catalog", { merchant_id: "01" }],
    ["Catalog", { merchant_id: (2n ** 256n).toString() }],
    ["Catalog", { merchant_id: 7 }],
    ["Catalog", { service_id: "x".repeat(257) }],
    ["Catalog", { service_id: "a\0b" }],
    ["Catalog", { expected_hash: "0x12" }],
    ["QuoteRequest", { agent: "0x12" }],
    ["QuoteRequest", { service_numeric_id: "-1" }],
    ["QuoteResponse", { request_hash: "0x" }],
  ])("rejects invalid labels (%# %s)", async (kind, labels) => {
    const text = { catalog_json: "1", quote_request_json: "1", quote_response_json: "1" };
    expect((await fault(publish(kind, { ...text, ...labels })))[0]).toBe("INPUT_INVALID");
  });
});

describe("fetching", () => {
  it("returns exactly the published bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ stringUnit: "binary" }), async (json) => {
        const text = json.replace(/\p{Surrogate}/gu, "");
        fc.pre(isJson(text));
        await publish("QuoteRequest", { quote_request_json: text });
        const { body } = await fetchByHash("getQuoteRequest", hashOf(text));
        expect(Buffer.compare(body as Buffer, Buffer.from(text, "utf8"))).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it("serves a document as immutable, with its hash as ETag and without sniffing", async () => {
    await publish("Catalog", { catalog_json: '"<script>"' });
    const { headers } = await fetchByHash("getCatalog", hashOf('"<script>"'));
    expect(headers).toEqual({
      "content-type": "application/json",
      "cache-control": "public, max-age=31536000, immutable",
      etag: `"${hashOf('"<script>"')}"`,
      "x-content-type-options": "nosniff",
    });
  });

  it.each(["getCatalog", "getCatalogMetadata", "getQuoteRequest", "getQuoteResponseMetadata"])(
    "%s responds NOT_FOUND for an unknown hash",
    async (operation) => {
      expect((await fault(fetchByHash(operation, `0x${"5a".repeat(32)}`)))[0]).toBe("NOT_FOUND");
    },
  );

  it("returns the publication times", async () => {
    await publish("Catalog", { catalog_json: '{"t":1}' });
    const { body } = await fetchByHash("getCatalogMetadata", hashOf('{"t":1}'));
    const { created_at, updated_at } = body as Record<string, string>;
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(updated_at).toBe(created_at);
    expect(Math.abs(Date.parse(created_at ?? "") - Date.now())).toBeLessThan(60_000);
    expect(Object.keys(body as object)).toEqual([
      "catalog_hash",
      "merchant_id",
      "service_id",
      "size_bytes",
      "uri",
      "created_at",
      "updated_at",
    ]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
