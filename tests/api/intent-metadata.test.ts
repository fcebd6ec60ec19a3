// Intent metadata over HTTP: validated, consistent with the onchain commitment, replaced as a whole.
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INTENT_OWNER, ISO_TIME, openWriteStage, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
let intentId: bigint;
let committedId: bigint;
beforeAll(async () => {
  stage = await openWriteStage();
  intentId = await stage.submit(INTENT_OWNER, 1n);
  committedId = await stage.submit(INTENT_OWNER, 2n, keccak256(DATA));
  await stage.waitUntilSynced();
});
afterAll(() => stage.close());

const DATA: Hex = "0xdeadbeef";
const TARGET = `0x${"Aa".repeat(20)}`;
const SUBJECT = `0x${"Bb".repeat(32)}`;
const SCHEMA = `0x${"Cc".repeat(32)}`;

describe("intent metadata", () => {
  it("stores metadata in lower case and shows it with the intent at once", async () => {
    const before = await stage.get(`/intents/${intentId}`);
    expect(before.body.metadata).toBeNull();
    const { status, body } = await stage.put(intentId, {
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
      ["created_at", expect.stringMatching(ISO_TIME)],
      ["updated_at", expect.stringMatching(ISO_TIME)],
    ]);
    expect((await stage.get(`/intents/${intentId}`)).body.metadata).toEqual(body);
  });

  it("replaces metadata as a whole", async () => {
    const first = await stage.put(intentId, { execution_data: "0x01" });
    const second = await stage.put(intentId, { execution_target: TARGET });
    expect(second.body).toMatchObject({
      execution_target: TARGET.toLowerCase(),
      execution_data: null,
      required_attestation_subject: null,
      created_at: first.body.created_at,
    });
  });

  it("rejects data that differs from the onchain commitment", async () => {
    const other = await stage.put(committedId, { execution_data: "0x00" });
    expect([other.status, other.headers.get("x-error-code")]).toEqual([409, "HASH_MISMATCH"]);
    expect(other.body.error).toContain(keccak256(DATA));
    expect((await stage.put(committedId, { execution_data: DATA })).status).toBe(200);
    expect((await stage.put(committedId, { execution_data: null })).status).toBe(200);
  });

  it("requires an intent for metadata", async () => {
    expect((await stage.put(999n, {})).status).toBe(404);
    expect((await stage.open.request("PUT", "/intents/999/metadata", {})).status).toBe(404);
  });

  it.each([
    ["a malformed id", "/intents/abc/metadata", {}],
    ["an id beyond 256 bits", `/intents/${2n ** 256n}/metadata`, {}],
    ["a short target", "/intents/1/metadata", { execution_target: "0x12" }],
    ["half a byte of data", "/intents/1/metadata", { execution_data: "0x123" }],
    ["too much data", "/intents/1/metadata", { execution_data: `0x${"00".repeat(65_537)}` }],
    ["a subject of 20 bytes", "/intents/1/metadata", { required_attestation_subject: TARGET }],
    ["a number", "/intents/1/metadata", { execution_data: 12 }],
    ["a list", "/intents/1/metadata", []],
  ])("rejects metadata with %s", async (_name, path, body) => {
    expect((await stage.open.request("PUT", path, body)).status).toBe(400);
  });

  it("accepts 64 KiB of data, and no signature in open mode", async () => {
    const execution_data = `0x${"00".repeat(65_536)}`;
    const { status, body } = await stage.open.request("PUT", `/intents/${intentId}/metadata`, {
      execution_data,
    });
    expect([status, body.execution_data.length]).toEqual([200, execution_data.length]);
  });
});
