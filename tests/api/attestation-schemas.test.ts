// Attestation schemas over HTTP: built-in ones, publication under their hash, replacement by their publisher.
import { type Hex, keccak256, stringToBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schemaWriteSubject } from "../../src/api/writes/signed-write.ts";
import { toCanonicalJson } from "../../src/lib/canonical-json.ts";
import { INTENT_OWNER, openWriteStage, UNRELATED_ACCOUNT, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
beforeAll(async () => {
  stage = await openWriteStage();
});
afterAll(() => stage.close());

describe("attestation schemas", () => {
  const json_schema = { type: "object", properties: { z: { type: "string" }, a: { minimum: 0.5 } } };
  const hash = keccak256(stringToBytes(toCanonicalJson(json_schema)));
  const publish = (by: number, body: Record<string, unknown>, schemaHash: Hex = hash) =>
    stage.send(stage.person(by), schemaWriteSubject(schemaHash), {
      method: "POST",
      path: "/attestations/schemas",
      body,
      version: stage.nextVersion(),
    });

  it("lists the built-in schemas", async () => {
    const { body } = await stage.get("/attestations/schemas?limit=4");
    const built = ["1", "2", "3", "4"].map((digit) => `0x${digit.repeat(64)}`);
    const all = await Promise.all(built.map((each) => stage.get(`/attestations/schemas/${each}`)));
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

  it("publishes a schema under the hash of its canonical text", async () => {
    const { status, body } = await publish(INTENT_OWNER, {
      name: "mine",
      json_schema,
      recommended_subject: "an agent",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ schema_hash: hash, name: "mine", json_schema, description: null });
    const shown = await stage.get(`/attestations/schemas/${hash}`);
    expect(shown.body).toEqual(body);
    expect(keccak256(stringToBytes(toCanonicalJson(shown.body.json_schema)))).toBe(hash);
  });

  it("lets only the publisher replace a schema", async () => {
    expect((await publish(UNRELATED_ACCOUNT, { name: "stolen", json_schema })).status).toBe(409);
    const renamed = await publish(INTENT_OWNER, { name: "still mine", schema_hash: hash, description: "x" });
    expect(renamed.body).toMatchObject({ name: "still mine", json_schema: {}, description: "x" });
    expect((await stage.get(`/attestations/schemas/${hash}`)).body).toEqual(renamed.body);
  });

  it("rejects the hash or name of a built-in schema, in any mode", async () => {
    const builtIn = `0x${"1".repeat(64)}`;
    expect((await publish(INTENT_OWNER, { name: "x", schema_hash: builtIn }, builtIn as Hex)).status).toBe(
      409,
    );
    const named = { name: "Safety_Review", json_schema: { title: "fake" } };
    expect((await stage.open.request("POST", "/attestations/schemas", named)).status).toBe(409);
  });

  it("paginates schemas by hash", async () => {
    const first = await stage.get("/attestations/schemas?limit=3");
    const { next_cursor, ...pagination } = first.body.pagination;
    expect(pagination).toEqual({ limit: 3, offset: 0, count: 3 });
    const rest = await stage.get(`/attestations/schemas?cursor=${next_cursor}`);
    const hashes = [...first.body.schemas, ...rest.body.schemas].map((each) => each.schema_hash);
    expect(hashes).toEqual([...hashes].sort());
    expect(hashes).toEqual(
      (await stage.get("/attestations/schemas")).body.schemas.map(
        (s: { schema_hash: string }) => s.schema_hash,
      ),
    );
    expect(hashes).toContain(hash);
  });

  it.each([
    ["no name", { json_schema: {} }],
    ["an empty name", { name: "", json_schema: {} }],
    ["neither hash nor schema", { name: "x" }],
    ["a schema that is not an object", { name: "x", json_schema: true }],
    ["a schema that does not compile", { name: "x", json_schema: { type: "objekt" } }],
    ["a schema with a remote reference", { name: "x", json_schema: { $ref: "https://example.com" } }],
    ["a schema with digits no double keeps", '{"name":"x","json_schema":{"maximum":9007199254740993}}'],
    ["a malformed hash", { name: "x", schema_hash: "0x12" }],
    ["a name with NUL", { name: "a\0b", json_schema: {} }],
  ])("rejects a schema with %s", async (_name, body) => {
    expect((await stage.open.request("POST", "/attestations/schemas", body)).status).toBe(400);
  });

  it("rejects a schema above 64 KiB", async () => {
    const body = { name: "x", json_schema: { description: "x".repeat(65_536) } };
    expect((await stage.open.request("POST", "/attestations/schemas", body)).status).toBe(413);
  });

  it("responds 404 for an unknown schema", async () => {
    expect((await stage.get(`/attestations/schemas/0x${"99".repeat(32)}`)).status).toBe(404);
    expect((await stage.get("/attestations/schemas/99")).status).toBe(400);
  });
});
