// Reads while the chain advances: pages neither lose nor repeat records, and past blocks read as they did at the time.
// Main covers a part: pages of a chain that stands still in reads.test.ts, past blocks in read-truth.test.ts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFullDepth, runsOf } from "../support/test-depth.ts";
import { type ApiStage, openApiStage } from "./api-stage.ts";
import { LIST_SHAPES } from "./record-shapes.ts";

let stage: ApiStage;
const STEPS = isFullDepth() ? 250 : 100;
// Every table that the reads need has rows after the fewer steps.
const SEED = 75;
const HEADS = runsOf(4, { min: 1 });
const STEPS_BETWEEN = isFullDepth() ? 30 : 15;
// Several pages of each list.
const PAGE = 5;
// Rounds of reading every list while the simulator runs; at full depth until it ends.
const ROUNDS_MAX = isFullDepth() ? Number.POSITIVE_INFINITY : 2;
const MINUTE = 60_000;

beforeAll(async () => {
  // Nothing becomes final, so that recent-only tables cover all blocks.
  stage = await openApiStage(SEED, { finalityDepth: 100_000 });
  await stage.play(STEPS);
  await stage.waitUntilSynced();
});
afterAll(() => stage.close());

describe("while the simulator runs", () => {
  it(
    "visits every record of each list once while the simulator runs",
    async () => {
      const before = new Map<string, readonly unknown[]>();
      for (const [path, { key, id }] of Object.entries(LIST_SHAPES)) {
        before.set(
          path,
          (await stage.pages(path, key, 100)).map((each) => each[id]),
        );
      }
      let playing = true;
      const played = stage.play(STEPS_BETWEEN * runsOf(4, { min: 1 })).finally(() => {
        playing = false;
      });
      let rounds = 0;
      while ((playing && rounds < ROUNDS_MAX) || rounds === 0) {
        for (const [path, { key, id, newestFirst }] of Object.entries(LIST_SHAPES)) {
          const byCursor = (await stage.pages(path, key, PAGE)).map((each) => each[id]);
          expectOnce(path, byCursor);
          // With newest first, new records shift offsets, but not cursors.
          if (!newestFirst) expectOnce(path, await byOffset(path, key, id));
        }
        rounds += 1;
      }
      await played;

      function expectOnce(path: string, ids: readonly unknown[]): void {
        expect(new Set(ids).size, path).toBe(ids.length);
        expect(ids, path).toEqual(expect.arrayContaining([...(before.get(path) ?? [])]));
      }
      async function byOffset(path: string, key: string, id: string): Promise<readonly unknown[]> {
        const ids: unknown[] = [];
        for (;;) {
          const { records } = await stage.page(`${path}?limit=${PAGE}&offset=${ids.length}`, key);
          ids.push(...records.map((each) => each[id]));
          if (records.length < PAGE) return ids;
        }
      }
    },
    MINUTE,
  );
});

describe("an earlier block", () => {
  it(
    "reads an earlier block as it was when it was the head",
    async () => {
      const recorded: {
        readonly block: number;
        readonly path: string;
        readonly status: number;
        readonly text: string;
      }[] = [];
      for (let head = 0; head < HEADS; head += 1) {
        await stage.play(STEPS_BETWEEN);
        const block = await stage.waitUntilSynced();
        for (const path of await addresses()) {
          const { status, text, headers } = await stage.get(path);
          if (status === 200) expect(headers.get("x-indexed-block")).toBe(String(block));
          recorded.push({ block, path, status, text });
        }
      }
      await stage.play(STEPS_BETWEEN * 2);
      const last = await stage.waitUntilSynced();
      for (const { block, path, status, text } of recorded) {
        const again = await stage.get(`${path}${path.includes("?") ? "&" : "?"}block=${block}`);
        expect([again.status, again.text], `${path} at ${block}`).toEqual([status, text]);
        if (status === 200) expect(again.headers.get("x-indexed-block")).toBe(String(last));
      }
      // The comparison is meaningful only if much has changed.
      const changed = await Promise.all(
        recorded.map(async ({ path, text }) => (await stage.get(path)).text !== text),
      );
      expect(changed.filter(Boolean).length).toBeGreaterThan(recorded.length / 4);
    },
    MINUTE,
  );

  /** Sample URLs of every kind of read. */
  async function addresses(): Promise<readonly string[]> {
    const pick = async (table: string, column: string) =>
      (
        await stage.first(
          `select ${column} as value from ${table} where valid_to is null order by random() limit 1`,
        )
      ).value;
    const random = async (path: string, table: string, column: string) => path + (await pick(table, column));
    const spender = await pick("spend_windows", "account");
    return [
      ...Object.keys(LIST_SHAPES).flatMap((path) => [
        `${path}?limit=100`,
        `${path}?limit=3&offset=2&include=provenance`,
      ]),
      ...["open", "filled", "cancelled", "expired"].map((status) => `/intents?limit=100&status=${status}`),
      ...["solvers", "attestors", "merchants", "services", "facilitators"].flatMap((path) => [
        `/${path}?active=true`,
        `/${path}?active=false`,
      ]),
      "/analytics/commerce",
      "/totals",
      "/totals?interval=hour",
      "/analytics/volumes",
      "/analytics/volumes?interval=hour",
      ...["merchant_id", "payment_rail"].map((key) => `/analytics/volumes?${key}=1`),
      await random("/analytics/volumes?token=", "receipts", "token"),
      await random("/analytics/volumes?facilitator=", "facilitators", "facilitator"),
      await random("/analytics/flows?token=", "receipts", "token"),
      await random("/agents/", "agents", "agent_id"),
      await random("/agents?owner=", "agents", "owner"),
      await random("/intents/", "intents", "intent_id"),
      `/intents/${await pick("bids", "intent_id")}/bids`,
      `/intents/${await pick("bids", "intent_id")}/bids?status=open`,
      `/accounts/${await pick("policies", "account")}/policies`,
      ...["", "/windows"].map((rest) => `/accounts/${spender}${rest}`),
      `/accounts/${await pick("session_keys", "account")}`,
      `/accounts/${await pick("session_keys", "account")}/session-keys`,
      await random("/intents?owner=", "intents", "owner"),
      await random("/attestations?attester=", "attestations", "attester"),
      await random("/solvers/", "solvers", "solver_id"),
      await random("/solvers?operator=", "solvers", "operator"),
      await random("/attestors/", "attestors", "attestor_id"),
      `/merchants/${await pick("merchants", "merchant_id")}/reputation`,
      await random("/services?merchant_id=", "services", "merchant_id"),
      await random("/services?capability_hash=", "services", "capability_hash"),
      await random("/quotes/", "quotes", "quote_hash"),
      await random("/receipts?agent=", "receipts", "agent"),
      await random("/receipts?merchant_id=", "receipts", "merchant_id"),
      await random("/receipts?service_numeric_id=", "receipts", "service_numeric_id"),
      await random("/receipts?facilitator=", "receipts", "facilitator"),
      await random("/receipts?token=", "receipts", "token"),
      await random("/receipts?quote_hash=", "receipts", "quote_hash"),
      await random("/receipts/", "receipts", "receipt_id"),
      await random("/facilitators/", "facilitators", "facilitator_id"),
      await random("/facilitators?facilitator=", "facilitators", "facilitator"),
      await random("/disputes/", "disputes", "dispute_id"),
      await random("/disputes?receipt_id=", "disputes", "receipt_id"),
      await random("/disputes?merchant_id=", "disputes", "merchant_id"),
      await random("/disputes?opener=", "disputes", "opener"),
      ...["open", "resolved", "rejected"].map((status) => `/disputes?status=${status}`),
      await random("/trust-signals?subject_id=", "trust_signals", "subject_id"),
      // Does not exist yet.
      `/receipts?merchant_id=${Number(await pick("merchants", "max(merchant_id) over ()")) + 1}`,
      `/intents/${Number(await pick("intents", "max(intent_id) over ()")) + 1}`,
      `/tx/${await pick("intents", "tx_hash")}/explain`,
    ];
  }

  it("rejects a block that is not indexed or before the deployment", async () => {
    const head = await stage.waitUntilSynced();
    const { start_block } = await stage.first("select start_block from deployment");
    expect((await stage.get(`/intents?block=${head}`)).status).toBe(200);
    expect((await stage.get(`/intents?block=${head + 1}`)).status).toBe(400);
    expect((await stage.get(`/intents?block=${start_block}`)).status).toBe(200);
    expect((await stage.get(`/intents?block=${Number(start_block) - 1}`)).status).toBe(400);
  });
});
