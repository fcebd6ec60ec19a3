// The actions of the client against the real indexing API: every operation, lists, the past, documents, signed writes.
import { keccak256, toBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { OPERATIONS } from "../../packages/client/generated/operations.ts";
import type { Operation } from "../../packages/client/operation.ts";
import { createSextant, type Sextant } from "../../packages/client/sextant.ts";
import type { OpenApiOperation } from "../../src/http/openapi/document.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { INTENT_OWNER, openWriteStage, UNRELATED_ACCOUNT, type WriteStage } from "../api/write-stage.ts";
import { startTestApi } from "../support/http/test-api.ts";

type AnyAction = (
  ...given: readonly unknown[]
) => Promise<unknown> & { take(max: number): Promise<unknown[]> };

const API_OPERATIONS = Object.entries(OPERATIONS).filter(([, { service }]) => service === "api");

describe("reads", () => {
  let stage: ReadStage;
  let sextant: Sextant;
  beforeAll(async () => {
    stage = await openReadStage();
    sextant = createSextant({ api: stage.url });
  });
  afterAll(() => stage?.close());

  /** The arguments of the example in the document of the API. */
  function exampleOf({ path, method, hasParameters, hasBody }: Operation): unknown[] {
    const described = stage.client.document.paths[path]?.[method.toLowerCase()] as OpenApiOperation;
    const parameters = described.parameters as unknown as {
      name: string;
      required: boolean;
      example: unknown;
    }[];
    const required = parameters.filter((each) => each.required).map(({ name, example }) => [name, example]);
    return [
      ...(hasParameters ? [Object.fromEntries(required)] : []),
      ...(hasBody ? [described.requestBody?.content["application/json"]?.example] : []),
    ];
  }

  it.each(API_OPERATIONS)("%s reaches its route with what its example passes", async (id, operation) => {
    const action = (sextant as unknown as Readonly<Record<string, AnyAction>>)[id];
    const given = exampleOf(operation);
    const outcome = await Promise.resolve(
      operation.kind === "list" ? action?.(...given).take(3) : action?.(...given),
    ).catch((error) => error);
    // The ids of the examples are those of another run.
    if (outcome instanceof Error)
      expect(outcome).toMatchObject({ code: expect.stringMatching(/^(NOT_FOUND|CONFLICT)$/) });
    else expect(outcome).toEqual(expect.any(Object));
  });

  it("follows cursors to the end of a list, and stops when the caller stops", async () => {
    const all = await stage.pages("/intents", "intents", 100);
    const ids: unknown[] = [];
    for await (const { intent_id } of sextant.listIntents({ limit: 7 })) ids.push(intent_id);
    expect(ids.length).toBeGreaterThan(7);
    expect(ids).toEqual(all.map(({ intent_id }) => intent_id));
    expect(await sextant.listIntents({ limit: 3 }).take(5)).toEqual(all.slice(0, 5));
    for await (const { records, nextCursor } of sextant.listIntents({ limit: 2 }).pages()) {
      const rest = sextant.listIntents({ cursor: nextCursor ?? "" });
      expect([records, await rest.take(1)]).toEqual([all.slice(0, 2), all.slice(2, 3)]);
      break;
    }
  });

  it("reads as of a block by at, and waits for a block by minBlock", async () => {
    const [newest] = await stage.pages("/intents?status=filled", "intents", 1);
    const id = String(newest?.intent_id);
    const block = BigInt(String(newest?.block_number));
    const then = await sextant.at(block).getIntent({ id: BigInt(id) });
    expect(then).toEqual(await stage.body(`/intents/${id}?block=${block}`));
    expect([then.status, (await sextant.getIntent({ id })).status]).toEqual(["OPEN", "FILLED"]);
    expect(await sextant.getIntent({ id }, { minBlock: block })).toMatchObject({ intent_id: id });
    const api = await startTestApi(stage.database, { blockWaits: { waitMsMax: 100 } });
    onTestFinished(() => api.close());
    const impatient = createSextant({ api: api.url, attemptsMax: 1 });
    await expect(impatient.getIntent({ id }, { minBlock: 10n ** 9n })).rejects.toMatchObject({
      code: "BLOCK_NOT_INDEXED",
      status: 503,
      retry: "same-signature",
    });
  });

  it("explains a transaction, checks a planned one, and sums up", async () => {
    const [fill] = await stage.pages("/intents?status=filled", "intents", 1);
    const tx_hash = (fill?.fill as { tx_hash: string } | undefined)?.tx_hash ?? "";
    expect(await sextant.explainTransaction({ hash: tx_hash })).toEqual(
      await stage.body(`/tx/${tx_hash}/explain`),
    );
    expect(await sextant.getCommerceAnalytics()).toEqual(await stage.body("/analytics/commerce"));
    const planned = { account: String(fill?.owner), target: `0x${"42".repeat(20)}` };
    const { body } = await stage.client.call("/preflight", { method: "POST", body: planned });
    expect(await sextant.preflight(planned)).toEqual(body);
  });

  it("fails a read with the code, the status and the id of the request", async () => {
    const id = "99999999";
    await expect(sextant.getIntent({ id })).rejects.toMatchObject({
      ...{ name: "SextantError", code: "NOT_FOUND", status: 404, charged: "no", retry: "never" },
      requestId: expect.stringMatching(/\S/),
    });
    await expect(sextant.getIntent({ id: "" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      status: null,
    });
    await expect(sextant.getAgent({ agentId: "1/../../intents" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    await expect(sextant.getPortfolio({ address: "0x" })).rejects.toMatchObject({ code: "NOT_CONFIGURED" });
    const nowhere = createSextant({ api: "http://127.0.0.1:9", attemptsMax: 1 });
    await expect(nowhere.getIntent({ id })).rejects.toMatchObject({
      code: "UNREACHABLE",
      retry: "same-signature",
    });
  });

  it("repeats reads that may succeed later", async () => {
    let calls = 0;
    const flaky: typeof fetch = (input, init) => {
      calls += 1;
      if (calls === 1) return Promise.reject(new TypeError("fetch failed"));
      if (calls === 2)
        return Promise.resolve(new Response("", { status: 503, headers: { "retry-after": "0" } }));
      return fetch(input, init);
    };
    const patient = createSextant({ api: stage.url, fetch: flaky });
    expect(await patient.getCommerceAnalytics()).toEqual(await stage.body("/analytics/commerce"));
    expect(calls).toBe(3);
  });

  it("returns a document only if it has its hash", async () => {
    const text = '{"services": [], "name": "Ünïcode 🧭"}';
    const { catalog_hash: hash } = await sextant.publishCatalog({ catalog_json: text });
    expect(hash).toBe(keccak256(toBytes(text)));
    const found = await sextant.getCatalog({ hash: hash.toUpperCase().replace("0X", "0x") });
    expect(found).toEqual({ hash, text, json: JSON.parse(text) });
    const forging: typeof fetch = async () => new Response(text.replace("[]", "[1]"));
    const deceived = createSextant({ api: stage.url, fetch: forging });
    await expect(deceived.getCatalog({ hash })).rejects.toMatchObject({ code: "HASH_MISMATCH" });
  });
});

describe("signed writes", () => {
  let stage: WriteStage;
  beforeAll(async () => {
    stage = await openWriteStage();
  });
  afterAll(() => stage?.close());

  const writerOf = (person: number, own: typeof fetch = fetch) =>
    createSextant({
      ...{ api: stage.signed.url, fetch: own },
      writer: { account: stage.person(person), ...stage.domain },
    });

  it("stores an intent's metadata for its owner, and for no other account", async () => {
    const id = await stage.submit(INTENT_OWNER, 1n);
    await stage.waitUntilSynced();
    const [owner, outsider] = [writerOf(INTENT_OWNER), writerOf(UNRELATED_ACCOUNT)];
    for (const data of ["0xaa", "0xbb"]) {
      const stored = await owner.putIntentMetadata({ id }, { execution_data: data });
      expect(stored.execution_data).toBe(data);
    }
    expect((await owner.getIntent({ id })).metadata?.execution_data).toBe("0xbb");
    await expect(outsider.putIntentMetadata({ id }, { execution_data: "0xcc" })).rejects.toMatchObject({
      code: "WRITE_FORBIDDEN",
      retry: "never",
    });
    const unsigned = createSextant({ api: stage.signed.url });
    await expect(unsigned.putIntentMetadata({ id }, {})).rejects.toMatchObject({
      code: "WRITE_UNAUTHENTICATED",
    });
  });

  it("asks past the caches of other processes after a write", async () => {
    const id = await stage.submit(INTENT_OWNER, 3n);
    await stage.waitUntilSynced();
    const directives: (string | null)[] = [];
    const owner = writerOf(INTENT_OWNER, (url, init) => {
      directives.push(new Headers(init?.headers).get("cache-control"));
      return fetch(url, init);
    });
    await owner.getIntent({ id });
    await owner.putIntentMetadata({ id }, { execution_data: "0xaa" });
    expect((await owner.getIntent({ id })).metadata?.execution_data).toBe("0xaa");
    expect([directives.at(0), directives.at(-1)]).toEqual([null, "no-cache"]);
  });

  it("reserves metadata, and publishes schemas with and without a hash of their own", async () => {
    const owner = writerOf(INTENT_OWNER);
    const { hash } = stage.wish(INTENT_OWNER, 2n);
    const reservation = { intent_hash: hash, owner: stage.addressOf(INTENT_OWNER), execution_data: "0xdd" };
    expect(await owner.reserveIntentMetadata(reservation)).toMatchObject({
      intent_hash: hash,
      intent_id: null,
    });
    const json_schema = { type: "object", properties: { é: { const: 1e21 }, a: { minimum: 0.1 } } };
    const published = await owner.publishAttestationSchema({ name: "delivery", json_schema });
    expect(await owner.getAttestationSchema({ schemaHash: published.schema_hash })).toMatchObject({
      json_schema,
    });
    const schema_hash = `0x${"AB".repeat(32)}`;
    const named = await owner.publishAttestationSchema({ name: "named", schema_hash });
    expect(named.schema_hash).toBe(schema_hash.toLowerCase());
    await expect(
      writerOf(UNRELATED_ACCOUNT).publishAttestationSchema({ name: "delivery", json_schema }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
  });
});
