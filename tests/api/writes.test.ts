// Writing through the front door: a real chain, its index, real signatures and contracts, over HTTP.
import { type Hex, keccak256, stringToBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/writes/canonical-json.ts";
import { publishSchema, putMetadata, reserveMetadata } from "../../src/writes/sign-write.ts";
import { openWriteStage, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
let intentId: bigint;
let committedId: bigint;

const OWNER = 8;
const STRANGER = 9;
const DATA: Hex = "0xdeadbeef";
const TARGET = `0x${"Aa".repeat(20)}`;
const SUBJECT = `0x${"Bb".repeat(32)}`;
const SCHEMA = `0x${"Cc".repeat(32)}`;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  stage = await openWriteStage();
  intentId = await stage.submit(OWNER, 1n);
  committedId = await stage.submit(OWNER, 2n, keccak256(DATA));
  await stage.level();
}, 60_000);
afterAll(() => stage.close());

/** Versions as clients choose them: the clock, a little faster than it ticks. */
let clock = BigInt(Date.now());
const next = () => {
  clock += 1n;
  return clock;
};

const put = (id: bigint, body: unknown, by = OWNER, version = next()) =>
  stage.send(stage.person(by), putMetadata(id), {
    method: "PUT",
    path: `/intents/${id}/metadata`,
    body,
    version,
  });

const reserve = (hash: Hex, owner: Hex, fields: object, by = OWNER) =>
  stage.send(stage.person(by), reserveMetadata(hash), {
    method: "POST",
    path: "/intents/metadata",
    body: { intent_hash: hash, owner, ...fields },
    version: next(),
  });

const get = (path: string) => stage.signed.ask("GET", path);
const address = (person: number) => stage.person(person).address;

describe("intent metadata", () => {
  it("is stored for the owner, lower-cased, and shown with the intent at once", async () => {
    const before = await get(`/intents/${intentId}`);
    expect(before.body.metadata).toBeNull();
    const { status, body } = await put(intentId, {
      execution_target: TARGET,
      execution_data: "0xABCD",
      required_attestation_subject: SUBJECT,
      required_attestation_schema: SCHEMA,
    });
    expect(status).toBe(200);
    expect(Object.entries(body)).toEqual([
      ["intent_id", intentId.toString()],
      ["execution_target", TARGET.toLowerCase()],
      ["execution_data", "0xabcd"],
      ["required_attestation_subject", SUBJECT.toLowerCase()],
      ["required_attestation_schema", SCHEMA.toLowerCase()],
      ["created_at", expect.stringMatching(ISO)],
      ["updated_at", expect.stringMatching(ISO)],
    ]);
    expect((await get(`/intents/${intentId}`)).body.metadata).toEqual(body);
  });

  it("is replaced as a whole", async () => {
    const first = await put(intentId, { execution_data: "0x01" });
    const second = await put(intentId, { execution_target: TARGET });
    expect(second.body).toMatchObject({
      execution_target: TARGET.toLowerCase(),
      execution_data: null,
      required_attestation_subject: null,
      created_at: first.body.created_at,
    });
  });

  it("is nobody else's to write", async () => {
    const unsigned = await stage.signed.ask("PUT", `/intents/${intentId}/metadata`, {});
    expect([unsigned.status, unsigned.headers.get("x-error-code")]).toEqual([401, "WRITE_UNAUTHENTICATED"]);
    const foreign = await put(intentId, {}, STRANGER);
    expect([foreign.status, foreign.headers.get("x-error-code")]).toEqual([403, "WRITE_FORBIDDEN"]);
    expect(foreign.body.error).toContain(address(STRANGER).toLowerCase());
  });

  it("takes a version once, also when it comes twice at once", async () => {
    const version = next();
    const both = await Promise.all([
      put(intentId, { execution_data: "0x0a" }, OWNER, version),
      put(intentId, { execution_data: "0x0b" }, OWNER, version),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = both.find(({ status }) => status === 200);
    expect((await get(`/intents/${intentId}`)).body.metadata).toEqual(winner?.body);
    const again = await put(intentId, { execution_data: "0x0c" }, OWNER, version);
    expect([again.status, again.headers.get("x-error-code")]).toEqual([409, "WRITE_REPLAYED"]);
  });

  it("is signed for this server and this intent", async () => {
    const request = { method: "PUT", path: `/intents/${intentId}/metadata`, body: {}, version: next() };
    const owner = stage.person(OWNER);
    const elsewhere = { ...request, audience: stage.open.url };
    expect((await stage.send(owner, putMetadata(intentId), elsewhere)).status).toBe(403);
    expect((await stage.send(owner, putMetadata(committedId), request)).status).toBe(403);
  });

  it("keeps to the data that the intent committed to on chain", async () => {
    const other = await put(committedId, { execution_data: "0x00" });
    expect([other.status, other.headers.get("x-error-code")]).toEqual([409, "HASH_MISMATCH"]);
    expect(other.body.error).toContain(keccak256(DATA));
    expect((await put(committedId, { execution_data: DATA })).status).toBe(200);
    expect((await put(committedId, { execution_data: null })).status).toBe(200);
  });

  it("needs an intent", async () => {
    expect((await put(999n, {})).status).toBe(404);
    expect((await stage.open.ask("PUT", "/intents/999/metadata", {})).status).toBe(404);
  });

  it.each([
    ["an id that is none", "/intents/abc/metadata", {}],
    ["an id beyond 256 bits", `/intents/${2n ** 256n}/metadata`, {}],
    ["a short target", "/intents/1/metadata", { execution_target: "0x12" }],
    ["half a byte of data", "/intents/1/metadata", { execution_data: "0x123" }],
    ["too much data", "/intents/1/metadata", { execution_data: `0x${"00".repeat(65_537)}` }],
    ["a subject of 20 bytes", "/intents/1/metadata", { required_attestation_subject: TARGET }],
    ["a number", "/intents/1/metadata", { execution_data: 12 }],
    ["a list", "/intents/1/metadata", []],
  ])("refuses %s", async (_name, path, body) => {
    expect((await stage.open.ask("PUT", path, body)).status).toBe(400);
  });

  it("takes 64 KiB of data, and needs no signature where writes are open", async () => {
    const execution_data = `0x${"00".repeat(65_536)}`;
    const { status, body } = await stage.open.ask("PUT", `/intents/${intentId}/metadata`, { execution_data });
    expect([status, body.execution_data.length]).toEqual([200, execution_data.length]);
  });
});

describe("a reservation", () => {
  it("is linked when its intent is indexed, unlinked by a reorg, and linked again under another number", async () => {
    const { hash } = stage.wish(OWNER, 10n);
    const owner = address(OWNER);
    const first = await reserve(hash, owner, { execution_data: "0x01" });
    expect(first.status).toBe(201);
    expect(Object.entries(first.body)).toEqual([
      ["intent_hash", hash],
      ["owner", owner.toLowerCase()],
      ["intent_id", null],
      ["execution_target", null],
      ["execution_data", "0x01"],
      ["required_attestation_subject", null],
      ["required_attestation_schema", null],
      ["created_at", expect.stringMatching(ISO)],
      ["updated_at", expect.stringMatching(ISO)],
    ]);
    const replaced = await reserve(hash, owner, { execution_data: "0x02" });
    expect((await get(`/intents/metadata/${hash}`)).body).toEqual(replaced.body);

    // A stranger may reserve in his own name and changes nothing for the owner.
    expect((await reserve(hash, owner, {}, STRANGER)).status).toBe(403);
    const squatted = await reserve(hash, address(STRANGER), { execution_data: "0x66" }, STRANGER);
    expect(squatted.status).toBe(201);
    expect((await get(`/intents/metadata/${hash}?owner=${owner}`)).body).toEqual(replaced.body);

    const id = await stage.submit(OWNER, 10n);
    await stage.level();
    const linked = await get(`/intents/metadata/${hash}`);
    expect(linked.body).toEqual({ ...replaced.body, intent_id: id.toString() });
    expect((await get(`/intents/${id}`)).body.metadata).toMatchObject({
      intent_id: id.toString(),
      execution_data: "0x02",
      updated_at: replaced.body.updated_at,
    });
    const late = await reserve(hash, owner, { execution_data: "0x03" });
    expect([late.status, late.headers.get("x-error-code")]).toEqual([409, "CONFLICT"]);
    expect(late.body.error).toContain(`/intents/${id}/metadata`);
    await put(id, { execution_data: "0x04" });
    expect((await get(`/intents/${id}`)).body.metadata.execution_data).toBe("0x04");

    // The number goes to somebody else's intent: nothing of the owner's may cling to it.
    await stage.reorg(1);
    const others = await stage.submit(STRANGER, 10n);
    await stage.level();
    expect(others).toBe(id);
    expect((await get(`/intents/${id}`)).body).toMatchObject({
      owner: address(STRANGER).toLowerCase(),
      metadata: null,
    });
    expect((await get(`/intents/metadata/${hash}?owner=${owner}`)).body.intent_id).toBeNull();

    const again = await stage.submit(OWNER, 10n);
    await stage.level();
    expect(again).toBe(id + 1n);
    expect((await get(`/intents/metadata/${hash}`)).body.intent_id).toBe(again.toString());
    expect((await get(`/intents/${again}`)).body.metadata).toMatchObject({
      intent_id: again.toString(),
      execution_data: "0x04",
    });
  });

  it("of someone who is not the owner is never linked", async () => {
    const { hash } = stage.wish(OWNER, 12n);
    const squatted = await reserve(hash, address(STRANGER), { execution_data: "0x66" }, STRANGER);
    const id = await stage.submit(OWNER, 12n);
    await stage.level();
    expect((await get(`/intents/${id}`)).body.metadata).toBeNull();
    expect((await get(`/intents/metadata/${hash}`)).body).toEqual(squatted.body);
  });

  it("of other data than the intent commits to is not linked", async () => {
    const { hash } = stage.wish(OWNER, 11n, keccak256(DATA));
    await reserve(hash, address(OWNER), { execution_data: "0x00" });
    const id = await stage.submit(OWNER, 11n, keccak256(DATA));
    await stage.level();
    expect((await get(`/intents/${id}`)).body.metadata).toBeNull();
    expect((await get(`/intents/metadata/${hash}`)).body.intent_id).toBeNull();
  });

  it.each([
    ["no hash", { owner: TARGET }],
    ["no owner", { intent_hash: SUBJECT }],
    ["a short hash", { intent_hash: TARGET, owner: TARGET }],
    ["a long owner", { intent_hash: SUBJECT, owner: SUBJECT }],
  ])("with %s is refused", async (_name, body) => {
    expect((await stage.open.ask("POST", "/intents/metadata", body)).status).toBe(400);
  });

  it("that nobody made is not found", async () => {
    expect((await get(`/intents/metadata/0x${"01".repeat(32)}`)).status).toBe(404);
    expect((await get("/intents/metadata/0x01")).status).toBe(400);
  });
});

describe("an account that is a contract", () => {
  const wallet = `0x${"c0de".repeat(10)}` as Hex;
  // isValidSignature by hand: ecrecover(hash, v, r, s) is compared with one owner.
  const ownedBy = (owner: Hex): Hex =>
    `0x${[
      "600435600052",
      "60a43560f81c602052",
      "606435604052",
      "608435606052",
      "602060806080600060015afa50",
      `60805173${owner.slice(2)}14`,
      "631626ba7e60e01b02",
      "60005260206000f3",
    ].join("")}`;

  it("accepts what its own rules accept", async () => {
    await stage.chain.setCode(wallet, ownedBy(address(OWNER)));
    const { hash } = stage.wish(OWNER, 20n);
    expect((await reserve(hash, wallet, { execution_data: "0x01" })).status).toBe(201);
    const refused = await reserve(hash, wallet, { execution_data: "0x02" }, STRANGER);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([401, "WRITE_UNAUTHENTICATED"]);
    expect(refused.body.error).toContain("ERC-1271");
  });

  it("may publish a schema when it is named as the signer", async () => {
    const body = { name: "by a contract", schema_hash: `0x${"c1".repeat(32)}` };
    const subject = publishSchema(body.schema_hash as Hex);
    const request = { method: "POST", path: "/attestations/schemas", body, version: next(), signer: wallet };
    expect((await stage.send(stage.person(OWNER), subject, request)).status).toBe(201);
    const foreign = await stage.send(stage.person(STRANGER), subject, { ...request, version: next() });
    expect(foreign.status).toBe(401);
  });

  it("is never overruled by the key behind it", async () => {
    const keyed = stage.person(30);
    const { hash } = stage.wish(30, 21n);
    expect((await reserve(hash, keyed.address, {}, 30)).status).toBe(201);
    // The same account with code that answers zero, reverts, or breaks.
    for (const code of ["0x60206000f3", "0x60006000fd", "0xfe", "0x5b600056"] as const) {
      await stage.chain.setCode(keyed.address, code);
      expect((await reserve(hash, keyed.address, {}, 30)).status).toBe(401);
    }
  });
});

describe("attestation schemas", () => {
  const json_schema = { type: "object", properties: { z: { type: "string" }, a: { minimum: 0.5 } } };
  const hash = keccak256(stringToBytes(canonicalJson(json_schema)));
  const publish = (by: number, body: Record<string, unknown>, schemaHash: Hex = hash) =>
    stage.send(stage.person(by), publishSchema(schemaHash), {
      method: "POST",
      path: "/attestations/schemas",
      body,
      version: next(),
    });

  it("include the built-in ones", async () => {
    const { body } = await get("/attestations/schemas?limit=4");
    const built = ["1", "2", "3", "4"].map((digit) => `0x${digit.repeat(64)}`);
    const all = await Promise.all(built.map((each) => get(`/attestations/schemas/${each}`)));
    expect(all.map((each) => each.body.name)).toEqual([
      "solver_reputation",
      "tool_capability",
      "model_provider",
      "safety_review",
    ]);
    expect(body.schemas).toHaveLength(4);
    expect(Object.keys(body.schemas[0] ?? {})).toEqual([
      "schema_hash",
      "name",
      "description",
      "json_schema",
      "recommended_subject",
      "created_at",
      "updated_at",
    ]);
  });

  it("are published under the hash of their canonical text", async () => {
    const { status, body } = await publish(OWNER, {
      name: "mine",
      json_schema,
      recommended_subject: "an agent",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ schema_hash: hash, name: "mine", json_schema, description: null });
    const shown = await get(`/attestations/schemas/${hash}`);
    expect(shown.body).toEqual(body);
    expect(keccak256(stringToBytes(canonicalJson(shown.body.json_schema)))).toBe(hash);
  });

  it("are replaced by their publisher only", async () => {
    expect((await publish(STRANGER, { name: "stolen", json_schema })).status).toBe(409);
    const renamed = await publish(OWNER, { name: "still mine", schema_hash: hash, description: "x" });
    expect(renamed.body).toMatchObject({ name: "still mine", json_schema: {}, description: "x" });
    expect((await get(`/attestations/schemas/${hash}`)).body).toEqual(renamed.body);
  });

  it("can not take the hash or the name of a built-in one, in any mode", async () => {
    const builtIn = `0x${"1".repeat(64)}`;
    expect((await publish(OWNER, { name: "x", schema_hash: builtIn }, builtIn as Hex)).status).toBe(409);
    const named = { name: "Safety_Review", json_schema: { title: "fake" } };
    expect((await stage.open.ask("POST", "/attestations/schemas", named)).status).toBe(409);
  });

  it("come in pages, by hash", async () => {
    const first = await get("/attestations/schemas?limit=3");
    const { next_cursor, ...pagination } = first.body.pagination;
    expect(pagination).toEqual({ limit: 3, offset: 0, count: 3 });
    const rest = await get(`/attestations/schemas?cursor=${next_cursor}`);
    const hashes = [...first.body.schemas, ...rest.body.schemas].map((each) => each.schema_hash);
    expect(hashes).toEqual([...hashes].sort());
    expect(hashes).toEqual(
      (await get("/attestations/schemas")).body.schemas.map((s: { schema_hash: string }) => s.schema_hash),
    );
    expect(hashes).toContain(hash);
  });

  it.each([
    ["no name", { json_schema: {} }],
    ["an empty name", { name: "", json_schema: {} }],
    ["neither hash nor schema", { name: "x" }],
    ["a schema that is no object", { name: "x", json_schema: true }],
    ["a schema that does not compile", { name: "x", json_schema: { type: "objekt" } }],
    ["a schema with a remote reference", { name: "x", json_schema: { $ref: "https://example.com" } }],
    ["a schema with digits no double keeps", '{"name":"x","json_schema":{"maximum":9007199254740993}}'],
    ["a malformed hash", { name: "x", schema_hash: "0x12" }],
    ["a name with NUL", { name: "a\0b", json_schema: {} }],
  ])("are refused with %s", async (_name, body) => {
    expect((await stage.open.ask("POST", "/attestations/schemas", body)).status).toBe(400);
  });

  it("larger than 64 KiB are refused as such", async () => {
    const body = { name: "x", json_schema: { description: "x".repeat(65_536) } };
    expect((await stage.open.ask("POST", "/attestations/schemas", body)).status).toBe(413);
  });

  it("that nobody published are not found", async () => {
    expect((await get(`/attestations/schemas/0x${"99".repeat(32)}`)).status).toBe(404);
    expect((await get("/attestations/schemas/99")).status).toBe(400);
  });
});

describe("bids without a chain", () => {
  const bid = { solver: TARGET, amount_in: "10", amount_out: "20", fee: "1", valid_until: "99999999999" };
  const create = (body: unknown, id = intentId) => stage.open.ask("POST", `/intents/${id}/bids`, body);
  const select = (id: string) => stage.open.ask("POST", `/bids/${id}/select`);

  it("exist only where writes are open", async () => {
    const created = await stage.signed.ask("POST", `/intents/${intentId}/bids`, bid);
    const selected = await stage.signed.ask("POST", "/bids/1/select");
    expect([created.status, selected.status]).toEqual([404, 404]);
  });

  it("are made, listed and selected once", async () => {
    const plan = { steps: [{ call: "swap" }] };
    const first = await create({ ...bid, execution_plan: plan });
    expect(first.status).toBe(201);
    expect(Object.entries(first.body)).toEqual([
      ["bid_id", expect.stringMatching(/^\d+$/)],
      ["chain_bid_id", null],
      ["intent_id", intentId.toString()],
      ["solver", TARGET.toLowerCase()],
      ["amount_in", "10"],
      ["amount_out", "20"],
      ["fee", "1"],
      ["valid_until", "99999999999"],
      ["execution_plan", plan],
      ["status", "OPEN"],
      ["created_at", expect.stringMatching(ISO)],
    ]);
    const better = await create({ ...bid, amount_out: "30" });
    const late = await create({ ...bid, valid_until: "1" });
    expect(late.body.status).toBe("EXPIRED");
    const listed = await stage.open.ask("GET", `/intents/${intentId}/bids?status=open`);
    expect(listed.body.bids).toEqual([better.body, first.body]);
    expect((await select(late.body.bid_id)).status).toBe(409);

    const [one, two] = await Promise.all([select(first.body.bid_id), select(better.body.bid_id)]);
    expect([one.status, two.status].sort()).toEqual([200, 409]);
    const chosen = one.status === 200 ? one : two;
    expect(chosen.body.status).toBe("SELECTED");
    expect((await select(chosen.body.bid_id)).status).toBe(409);
    const after = await stage.open.ask("GET", `/intents/${intentId}/bids`);
    const states = after.body.bids.map(({ status }: { status: string }) => status);
    expect(states.sort()).toEqual(["REJECTED", "REJECTED", "SELECTED"]);
  });

  it("need an intent, and can not be selected when there is none", async () => {
    expect((await create(bid, 999n)).status).toBe(404);
    expect((await select("999999")).status).toBe(404);
  });

  it.each([
    ["no solver", { ...bid, solver: undefined }],
    ["a number as an amount", { ...bid, amount_in: 10 }],
    ["a negative amount", { ...bid, amount_out: "-1" }],
    ["an amount beyond 256 bits", { ...bid, amount_out: (2n ** 256n).toString() }],
    ["a plan that is a list", { ...bid, execution_plan: [] }],
    ["a plan with NUL", { ...bid, execution_plan: { a: "\0" } }],
  ])("are refused with %s", async (_name, body) => {
    expect((await create(body)).status).toBe(400);
  });

  it.each(["abc", "-1", (2n ** 63n).toString()])("are not called %s", async (id) => {
    expect((await select(id)).status).toBe(400);
  });
});

describe("documents over HTTP", () => {
  it("need no signature, come back byte for byte, and are asked for only once", async () => {
    const catalog_json =
      '{ "price" : 115792089237316195423570985008687907853269984665640564039457584007913129639935 }';
    const { status, body } = await stage.signed.ask(
      "POST",
      "/catalogs",
      { catalog_json },
      { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
    );
    expect([status, body.uri]).toEqual([201, `${stage.signed.url}/catalogs/${body.catalog_hash}`]);
    const fetched = await fetch(body.uri);
    expect(await fetched.text()).toBe(catalog_json);
    expect(fetched.headers.get("content-type")).toBe("application/json");
    expect(fetched.headers.get("etag")).toBe(`"${body.catalog_hash}"`);
    const again = await fetch(body.uri, { headers: { "if-none-match": `"${body.catalog_hash}"` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await fetch(body.uri, { method: "HEAD" })).status).toBe(200);
  });

  it("are refused with the right status", async () => {
    const wrong = { catalog_json: "1", expected_hash: `0x${"00".repeat(32)}` };
    const outcomes = await Promise.all([
      stage.signed.ask("POST", "/catalogs", wrong),
      stage.signed.ask("POST", "/catalogs", { catalog_json: `"${"x".repeat(131_072)}"` }),
      stage.signed.ask("POST", "/catalogs", { catalog_json: "{" }),
      stage.signed.ask("POST", "/catalogs", { catalog_json: { a: 1 } }),
      stage.signed.ask("POST", "/quote-responses", { quote_response_json: "1", request_hash: SUBJECT }),
      get("/catalogs/0x12"),
      get(`/catalogs/0x${"12".repeat(32)}`),
      get(`/quote-requests/0x${"12".repeat(32)}/metadata`),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([409, 413, 400, 400, 404, 400, 404, 404]);
  });
});
