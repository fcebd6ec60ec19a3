// The search of gauges: in parts, once for all readers of a snapshot, continued on low gas, and honest about its gaps.
import { gaugeScannerAbi as abi } from "@sextant/contracts/generated/gauge-scanner";
import { decodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import {
  fixtureChainConfig,
  FIXTURE_WALLET as WALLET,
} from "../../../tests/fixtures/positions/fixture-chain.ts";
import { openFailingChain } from "../../../tests/support/chain/recorded-chain.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PinnedChain } from "../types.ts";
import { describeGap, findStakedGauges } from "./staked-gauges.ts";

const VOTER: Hex = `0x${"70".repeat(20)}`;
const signal = new AbortController().signal;
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, "0")}`;
const gaugeAt = (index: number) => ({
  ...{ pool: addressOf(1 + index), gauge: addressOf(1_000_000 + index), holdsNfts: index % 2 === 0 },
});

/** A node with a voter of so many gauges; the wallet has something in those at `staked`. */
function openVoter(length: number, staked: readonly number[], perCall = 1_500) {
  const asked: (readonly [from: number, count: number])[] = [];
  const at: PinnedChain = {
    ...openFailingChain({ chain: fixtureChainConfig(8453, "Base", []), calls: [] }),
    callWithOverride: async ({ data }) => {
      const { args } = decodeFunctionData({ abi, data });
      const [voter, wallet, ...range] = args;
      expect([voter.toLowerCase(), wallet.toLowerCase()]).toEqual([VOTER, WALLET.toLowerCase()]);
      const [from, count] = range.map(Number) as [number, number];
      asked.push([from, count]);
      const start = Math.min(from, length);
      const next = Math.min(start + Math.min(count, perCall), length);
      const stakes = staked.filter((index) => index >= start && index < next).map(gaugeAt);
      return encodeFunctionResult({
        ...{ abi, functionName: "scan", result: [stakes, BigInt(next), BigInt(length)] },
      });
    },
  };
  return { at, asked, find: () => findStakedGauges({ at, wallet: WALLET }, VOTER, signal) };
}

describe("the search of gauges", () => {
  it("takes two calls for a voter of up to three thousand gauges", async () => {
    const { asked, find } = openVoter(2_000, [0, 1_499, 1_500, 1_999]);
    expect(await find()).toEqual({ gauges: [0, 1_499, 1_500, 1_999].map(gaugeAt), unasked: 0 });
    expect(asked).toEqual([
      [0, 1_500],
      [1_500, 1_500],
    ]);
  });

  it("asks for the rest once it knows how many there are", async () => {
    const { asked, find } = openVoter(4_501, [4_500]);
    expect(await find()).toEqual({ gauges: [gaugeAt(4_500)], unasked: 0 });
    expect(asked.map(([from]) => from)).toEqual([0, 1_500, 3_000, 4_500]);
  });

  it("searches again for a reader that shared the search of one that has failed", async () => {
    const { at, asked } = openVoter(10, [3]);
    const first = new AbortController();
    const failing: PinnedChain = {
      ...at,
      callWithOverride: async (call, stop) => {
        await new Promise((resolve) => setImmediate(resolve));
        stop.throwIfAborted();
        return at.callWithOverride(call, stop);
      },
    };
    const query = { at: failing, wallet: WALLET };
    const lost = findStakedGauges(query, VOTER, first.signal);
    const others = [1, 2].map(() => findStakedGauges(query, VOTER, signal));
    first.abort(new Error("the reader has failed"));
    await expect(lost).rejects.toThrow("the reader has failed");
    const found = { gauges: [gaugeAt(3)], unasked: 0 };
    expect(await Promise.all(others)).toEqual([found, found]);
    expect(asked.map(([from]) => from)).toEqual([0, 1_500]);
  });

  it("searches gauges once for all readers of a snapshot", async () => {
    const { asked, find } = openVoter(10, [3]);
    const [one, other] = await Promise.all([find(), find()]);
    expect(one).toBe(other);
    expect(asked).toHaveLength(2);
  });

  it("continues when the gas of a node has ended", async () => {
    const { asked, find } = openVoter(1_000, [0, 999], 400);
    expect(await find()).toEqual({ gauges: [gaugeAt(0), gaugeAt(999)], unasked: 0 });
    expect(asked.map(([from]) => from).sort((a, b) => a - b)).toEqual([0, 400, 800, 1_500]);
  });

  it.each([
    ["cannot ask one gauge in a call", 0],
    ["needs too many calls", 20],
  ])("gives up on a node that %s", async (_, perCall) => {
    const { asked, find } = openVoter(1_500, [0], perCall);
    expect(await find()).toBeNull();
    expect(asked.length).toBeLessThan(15);
  });

  it("asks at most fifteen thousand gauges and counts the others", async () => {
    const { asked, find } = openVoter(15_007, [15_000]);
    expect(await find()).toEqual({ gauges: [], unasked: 7 });
    expect(asked).toHaveLength(10);
  });

  const encode = (next: bigint, length: bigint, count = 0) =>
    encodeFunctionResult({
      ...{ abi, functionName: "scan" },
      result: [Array.from({ length: count }, (_, index) => gaugeAt(index)), next, length],
    });
  it.each([
    ["no support for overrides", null],
    ["nothing", "0x"],
    ["garbage", `0x${"7f".repeat(320)}`],
    ["more pools asked than there are", encode(11n, 10n)],
    ["more pools asked than wanted", encode(1_501n, 2_000n)],
    ["an impossible number of pools", encode(0n, 2n ** 255n)],
    ["more gauges than were asked", encode(1_500n, 1_500n, 1_501)],
  ] as const)("knows nothing after %s", async (_, result) => {
    const { at } = openVoter(0, []);
    const broken: PinnedChain = { ...at, callWithOverride: async () => result };
    expect(await findStakedGauges({ at: broken, wallet: WALLET }, VOTER, signal)).toBeNull();
  });

  it("rejects when the node fails", async () => {
    const at = openFailingChain({ chain: fixtureChainConfig(8453, "Base", []), calls: [] });
    await expect(findStakedGauges({ at, wallet: WALLET }, VOTER, signal)).rejects.toThrow();
  });

  it("says what it has left out, and nothing when that is nothing", () => {
    expect(describeGap({ gauges: [], unasked: 0 }, "Aerodrome", "Base")).toBeNull();
    expect(describeGap({ gauges: [], unasked: 7 }, "Aerodrome", "Base")).toBe(
      "The newest 7 gauges of Aerodrome on Base were not searched for staked liquidity.",
    );
    expect(describeGap(null, "Aerodrome", "Base")).toBe(
      "Liquidity staked in gauges of Aerodrome on Base may be missing: no node could search all gauges, so that only recent transfers show them.",
    );
  });
});
