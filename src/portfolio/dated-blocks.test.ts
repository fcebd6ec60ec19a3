// The block of a time: the last one at or before it, in few requests, whatever the times are and whatever a node claims.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localChainConfig } from "../../tests/support/portfolio/portfolio-stage.ts";
import type { PinnedRpc, Rpc, RpcCall } from "../chain/rpc/types.ts";
import { formatMoment } from "../lib/moment.ts";
import { DatedBlocks } from "./dated-blocks.ts";

const { signal } = new AbortController();
const GENESIS = 1_600_000_000;
const hash = `0x${"00".repeat(32)}`;
const quantity = (value: number) => `0x${value.toString(16)}`;

type Chain = {
  readonly timeOf: (number: number) => number;
  /** The newest block that the node claims to be final. */
  final: number;
  /** The newest block that there is, if the node claims another. */
  readonly newest?: number;
};

/** A search over a node with these times, which counts its requests. */
function searchOver(chain: Chain) {
  const sent = { requests: 0 };
  const batch = async (calls: readonly RpcCall<unknown>[]) => {
    sent.requests += 1;
    return calls.map(({ params, parse }) => {
      const [at] = params as [string];
      const number = at === "earliest" ? 0 : at === "finalized" ? chain.final : Number(at);
      if (at !== "finalized" && number > (chain.newest ?? chain.final)) return { ok: parse(null) };
      const timestamp = quantity(chain.timeOf(number));
      const block = { number: quantity(number), hash, parentHash: hash, timestamp };
      return { ok: parse({ ...block, logsBloom: `0x${"00".repeat(256)}` }) };
    });
  };
  const pinned = (work: (node: PinnedRpc) => Promise<unknown>) => work({ batch } as unknown as PinnedRpc);
  const clock = { now: 0, nowMs: () => clock.now, sleep: async () => undefined };
  const dated = new DatedBlocks({ pinned } as unknown as Rpc, localChainConfig([]), clock);
  const find = async (seconds: number) => (await dated.find(seconds, signal)).number;
  return { find, dated, sent, clock };
}

describe("the block of a time", () => {
  it("finds the last block at or before any time of any chain, within the bound of requests", async () => {
    const gaps = fc.array(fc.oneof(fc.nat(3), fc.nat(100_000)), { minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(gaps, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), async (given, shares) => {
        const times = [GENESIS];
        for (const gap of given) times.push((times.at(-1) ?? 0) + gap);
        const final = times.length - 1;
        const { find, sent } = searchOver({ timeOf: (number) => times[number] ?? 0, final });
        const span = (times.at(-1) ?? 0) - GENESIS;
        for (const share of [0, 1, ...shares]) {
          const seconds = GENESIS + Math.floor(span * share);
          sent.requests = 0;
          expect(await find(seconds)).toBe(times.findLastIndex((time) => time <= seconds));
          expect(sent.requests).toBeLessThanOrEqual(21);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("needs a few requests on the longest chain, and fewer for times near those it knows", async () => {
    // Four blocks a second, then two, and a pause of an hour.
    const timeOf = (number: number) =>
      GENESIS + Math.floor(number / 4) + (number > 300_000_000 ? 3_600 + (number - 300_000_000) / 4 : 0);
    const whole = (number: number) => Math.floor(timeOf(number));
    const { find, sent } = searchOver({ timeOf: whole, final: 500_000_000 });
    const target = whole(412_345_678);
    const found = await find(target);
    expect([whole(found) <= target, whole(found + 1) > target]).toEqual([true, true]);
    expect(sent.requests).toBeLessThanOrEqual(12);
    sent.requests = 0;
    await find(target);
    expect(sent.requests).toBe(0);
    await find(target - 600);
    expect(sent.requests).toBeLessThanOrEqual(6);
  });

  it("rejects a time before the first block, and one that is not final yet, and says so", async () => {
    const chain = { timeOf: (number: number) => GENESIS + 12 * number, final: 100 };
    const { find } = searchOver(chain);
    await expect(find(GENESIS - 1)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(
        `is before the first block of Local chain, 0 of ${formatMoment(GENESIS)}.`,
      ),
    });
    expect(await find(GENESIS + 1_200)).toBe(100);
    await expect(find(GENESIS + 1_201)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("is not final on Local chain yet: its newest final block is 100 of"),
    });
    chain.final = 101;
    expect([await find(GENESIS + 1_211), await find(GENESIS + 1_212)]).toEqual([100, 101]);
  });

  it("ends in an error if the times of a node do not ascend, and forgets them", async () => {
    let lies = true;
    const timeOf = (number: number) =>
      GENESIS + 12 * number + (lies && number > 0 && number < 1_000 ? (number % 2) * 900_000 : 0);
    const { find } = searchOver({ timeOf, final: 1_000 });
    await expect(find(GENESIS + 6_000)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
      message: "The times of blocks of Local chain do not ascend.",
    });
    lies = false;
    expect(await find(GENESIS + 6_000)).toBe(500);
  });

  it("finds the block although a node once claimed a newest block that is not there", async () => {
    const [newest, claimed] = [1_000, 10 ** 12];
    const now = GENESIS + 12 * newest;
    const open = async () => {
      const timeOf = (number: number) => Math.min(GENESIS + 12 * number, now + (number === newest ? 0 : 6));
      const chain = { timeOf, final: newest, newest };
      const { find } = searchOver(chain);
      await find(GENESIS + 6_000);
      chain.final = claimed;
      return { find, chain };
    };
    const between = await open();
    expect(await between.find(now + 6)).toBe(claimed);
    between.chain.final = newest;
    // From the blocks that are known, which lead above the newest, and again from what was then learned.
    expect([await between.find(now), await between.find(now - 12)]).toEqual([newest, newest - 1]);

    const failed = await open();
    await expect(failed.find(now + 5)).rejects.toThrow("not found");
    failed.chain.final = newest;
    expect(await failed.find(now - 12)).toBe(newest - 1);
  });

  it("finds the block although the newest one contradicts what a node claimed before", async () => {
    const chain = { timeOf: (number: number) => GENESIS + Math.min(12 * number, 13_000), final: 10 ** 12 };
    const { find } = searchOver(chain);
    expect(await find(GENESIS + 13_000)).toBe(10 ** 12);
    const honest = { timeOf: (number: number) => GENESIS + 13 * number, final: 1_001 };
    Object.assign(chain, honest);
    expect(await find(GENESIS + 13 * 1_001)).toBe(1_001);
  });

  it("rejects a request at fault without forgetting what it knows", async () => {
    const { find, sent } = searchOver({ timeOf: (number) => GENESIS + 12 * number, final: 1_000 });
    await find(GENESIS + 6_000);
    await expect(find(GENESIS - 1)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    sent.requests = 0;
    await find(GENESIS + 6_000);
    expect(sent.requests).toBe(0);
  });

  it("tells the time of the block that it finds", async () => {
    const { dated } = searchOver({ timeOf: (number) => GENESIS + 12 * number, final: 100 });
    expect(await dated.find(GENESIS + 23, signal)).toEqual({ number: 1, timestamp: GENESIS + 12 });
    expect(await dated.find(GENESIS + 23, signal)).toEqual({ number: 1, timestamp: GENESIS + 12 });
  });

  it("reads the times again after ten minutes", async () => {
    const { find, sent, clock } = searchOver({ timeOf: (number) => GENESIS + number, final: 50 });
    await find(GENESIS + 20);
    clock.now = 600_000;
    sent.requests = 0;
    await find(GENESIS + 20);
    expect(sent.requests).toBeGreaterThan(0);
  });
});
