// Offchain bids, the development helpers: open mode only, created and selected like bids on chain.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INTENT_OWNER, ISO_TIME, openWriteStage, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
let intentId: bigint;
beforeAll(async () => {
  stage = await openWriteStage();
  intentId = await stage.submit(INTENT_OWNER, 1n);
  await stage.waitUntilSynced();
});
afterAll(() => stage.close());

const TARGET = `0x${"Aa".repeat(20)}`;

describe("offchain bids", () => {
  const bid = { solver: TARGET, amount_in: "10", amount_out: "20", fee: "1", valid_until: "99999999999" };
  const create = (body: unknown, id = intentId) => stage.open.request("POST", `/intents/${id}/bids`, body);
  const select = (id: string) => stage.open.request("POST", `/bids/${id}/select`);

  it("has offchain bids only in open mode", async () => {
    const created = await stage.signed.request("POST", `/intents/${intentId}/bids`, bid);
    const selected = await stage.signed.request("POST", "/bids/1/select");
    expect([created.status, selected.status]).toEqual([404, 404]);
  });

  it("creates, lists and selects an offchain bid once", async () => {
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
      ["created_at", expect.stringMatching(ISO_TIME)],
    ]);
    const better = await create({ ...bid, amount_out: "30" });
    const late = await create({ ...bid, valid_until: "1" });
    expect(late.body.status).toBe("EXPIRED");
    const listed = await stage.open.request("GET", `/intents/${intentId}/bids?status=open`);
    expect(listed.body.bids).toEqual([better.body, first.body]);
    expect((await select(late.body.bid_id)).status).toBe(409);

    const [one, two] = await Promise.all([select(first.body.bid_id), select(better.body.bid_id)]);
    expect([one.status, two.status].sort()).toEqual([200, 409]);
    const chosen = one.status === 200 ? one : two;
    expect(chosen.body.status).toBe("SELECTED");
    expect((await select(chosen.body.bid_id)).status).toBe(409);
    const after = await stage.open.request("GET", `/intents/${intentId}/bids`);
    const states = after.body.bids.map(({ status }: { status: string }) => status);
    expect(states.sort()).toEqual(["REJECTED", "REJECTED", "SELECTED"]);
  });

  it("requires an intent for a bid, and an existing bid to select", async () => {
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
  ])("rejects an offchain bid with %s", async (_name, body) => {
    expect((await create(body)).status).toBe(400);
  });

  it.each(["abc", "-1", (2n ** 63n).toString()])("rejects the bid id %s", async (id) => {
    expect((await select(id)).status).toBe(400);
  });
});
