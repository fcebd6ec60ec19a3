// Metadata reserved before its intent is indexed: linked to that intent only, also across reorgs.
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INTENT_OWNER, ISO_TIME, openWriteStage, UNRELATED_ACCOUNT, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
beforeAll(async () => {
  stage = await openWriteStage();
});
afterAll(() => stage.close());

const DATA: Hex = "0xdeadbeef";
const TARGET = `0x${"Aa".repeat(20)}`;
const SUBJECT = `0x${"Bb".repeat(32)}`;

describe("a reservation", () => {
  it("links a reservation to its indexed intent, also under another id after a reorg", async () => {
    const { hash } = stage.wish(INTENT_OWNER, 10n);
    const owner = stage.addressOf(INTENT_OWNER);
    const first = await stage.reserve(hash, owner, { execution_data: "0x01" });
    expect(first.status).toBe(201);
    expect(Object.entries(first.body)).toEqual([
      ["intent_hash", hash],
      ["owner", owner.toLowerCase()],
      ["intent_id", null],
      ["execution_target", null],
      ["execution_data", "0x01"],
      ["required_attestation_subject", null],
      ["required_attestation_schema", null],
      ["created_at", expect.stringMatching(ISO_TIME)],
      ["updated_at", expect.stringMatching(ISO_TIME)],
    ]);
    const replaced = await stage.reserve(hash, owner, { execution_data: "0x02" });
    expect((await stage.get(`/intents/metadata/${hash}`)).body).toEqual(replaced.body);

    // A reservation by another account does not affect the owner's.
    expect((await stage.reserve(hash, owner, {}, UNRELATED_ACCOUNT)).status).toBe(403);
    const squatted = await stage.reserve(
      hash,
      stage.addressOf(UNRELATED_ACCOUNT),
      { execution_data: "0x66" },
      UNRELATED_ACCOUNT,
    );
    expect(squatted.status).toBe(201);
    expect((await stage.get(`/intents/metadata/${hash}?owner=${owner}`)).body).toEqual(replaced.body);

    const id = await stage.submit(INTENT_OWNER, 10n);
    await stage.waitUntilSynced();
    const linked = await stage.get(`/intents/metadata/${hash}`);
    expect(linked.body).toEqual({ ...replaced.body, intent_id: id.toString() });
    expect((await stage.get(`/intents/${id}`)).body.metadata).toMatchObject({
      intent_id: id.toString(),
      execution_data: "0x02",
      updated_at: replaced.body.updated_at,
    });
    const late = await stage.reserve(hash, owner, { execution_data: "0x03" });
    expect([late.status, late.headers.get("x-error-code")]).toEqual([409, "CONFLICT"]);
    expect(late.body.error).toContain(`/intents/${id}/metadata`);
    await stage.put(id, { execution_data: "0x04" });
    expect((await stage.get(`/intents/${id}`)).body.metadata.execution_data).toBe("0x04");

    // Another intent gets the id and must not inherit the metadata.
    await stage.reorg(1);
    const others = await stage.submit(UNRELATED_ACCOUNT, 10n);
    await stage.waitUntilSynced();
    expect(others).toBe(id);
    expect((await stage.get(`/intents/${id}`)).body).toMatchObject({
      owner: stage.addressOf(UNRELATED_ACCOUNT).toLowerCase(),
      metadata: null,
    });
    expect((await stage.get(`/intents/metadata/${hash}?owner=${owner}`)).body.intent_id).toBeNull();

    const again = await stage.submit(INTENT_OWNER, 10n);
    await stage.waitUntilSynced();
    expect(again).toBe(id + 1n);
    expect((await stage.get(`/intents/metadata/${hash}`)).body.intent_id).toBe(again.toString());
    expect((await stage.get(`/intents/${again}`)).body.metadata).toMatchObject({
      intent_id: again.toString(),
      execution_data: "0x04",
    });
  });

  it("never links a reservation that is not the owner's", async () => {
    const { hash } = stage.wish(INTENT_OWNER, 12n);
    const squatted = await stage.reserve(
      hash,
      stage.addressOf(UNRELATED_ACCOUNT),
      { execution_data: "0x66" },
      UNRELATED_ACCOUNT,
    );
    const id = await stage.submit(INTENT_OWNER, 12n);
    await stage.waitUntilSynced();
    expect((await stage.get(`/intents/${id}`)).body.metadata).toBeNull();
    expect((await stage.get(`/intents/metadata/${hash}`)).body).toEqual(squatted.body);
  });

  it("does not link a reservation whose data differs from the commitment", async () => {
    const { hash } = stage.wish(INTENT_OWNER, 11n, keccak256(DATA));
    await stage.reserve(hash, stage.addressOf(INTENT_OWNER), { execution_data: "0x00" });
    const id = await stage.submit(INTENT_OWNER, 11n, keccak256(DATA));
    await stage.waitUntilSynced();
    expect((await stage.get(`/intents/${id}`)).body.metadata).toBeNull();
    expect((await stage.get(`/intents/metadata/${hash}`)).body.intent_id).toBeNull();
  });

  it.each([
    ["no hash", { owner: TARGET }],
    ["no owner", { intent_hash: SUBJECT }],
    ["a short hash", { intent_hash: TARGET, owner: TARGET }],
    ["a long owner", { intent_hash: SUBJECT, owner: SUBJECT }],
  ])("rejects a reservation with %s", async (_name, body) => {
    expect((await stage.open.request("POST", "/intents/metadata", body)).status).toBe(400);
  });

  it("responds 404 for a reservation that does not exist", async () => {
    expect((await stage.get(`/intents/metadata/0x${"01".repeat(32)}`)).status).toBe(404);
    expect((await stage.get("/intents/metadata/0x01")).status).toBe(400);
  });
});
