// Recent activity: the newest transactions of all chains.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeChainData,
  makeSnapshot,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";

const base = makeChainConfig("base", 8453);
const ethereum = makeChainConfig("ethereum", 1);

describe("recent activity", () => {
  const entry = (number: number, timestamp: number | null, sender = TEST_WALLET, lookalike = false) => ({
    ...{ hash: numberedContract(number), from: sender, to: null, blockNumber: number, timestamp },
    ...{ sender, lookalike, transfer: null },
  });

  it("lists the newest of all chains first and entries without a time last", () => {
    const { recentActivity } = makeSnapshot(
      makeChainData(base, { activity: [entry(3, 300), entry(2, null), entry(1, 100)] }),
      makeChainData(ethereum, { activity: [entry(4, 200), entry(5, 100), entry(6, 9e15)] }),
    );
    expect(recentActivity.map(({ chain, blockNumber }) => `${chain} ${blockNumber}`)).toEqual([
      ...["base 3", "ethereum 4", "base 1", "ethereum 5", "base 2", "ethereum 6"],
    ]);
    expect(recentActivity[0]).toEqual({
      ...{ chain: "base", hash: numberedContract(3), from: TEST_WALLET, to: null, blockNumber: 3 },
      timestamp: "1970-01-01T00:05:00.000Z",
      ...{ sender: TEST_WALLET, lookalike: false, transfer: null },
    });
    expect(recentActivity.filter(({ timestamp }) => timestamp === null)).toHaveLength(2);
  });

  it("says how much moved, in the words of the token list", () => {
    const [listed, outsider] = [numberedContract(70), numberedContract(71)];
    const token = { contract: listed, symbol: "USDC", name: "USD Coin", decimals: 6, logo: null };
    const chain = { ...base, tokens: new Map([[listed, token]]) };
    const activity = [listed, outsider, null].map((contract, index) => ({
      ...entry(index, 100 - index),
      transfer: { contract, rawAmount: 1_500_000n },
    }));
    const { recentActivity } = makeSnapshot(makeChainData(chain, { activity }));
    const rawAmount = "1500000";
    expect(recentActivity.map(({ transfer }) => transfer)).toEqual([
      { contract: listed, symbol: "USDC", decimals: 6, rawAmount, amount: "1.5" },
      { contract: outsider, symbol: null, decimals: null, rawAmount, amount: null },
      { contract: null, symbol: "ETH", decimals: 18, rawAmount, amount: "0.0000000000015" },
    ]);
  });

  it("stops after 25", () => {
    const activity = Array.from({ length: 30 }, (_, index) => entry(index, 1_000 - index));
    expect(
      makeSnapshot(makeChainData(base, { activity })).recentActivity.map(({ blockNumber }) => blockNumber),
    ).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  it("gives lookalikes only the entries that others leave", () => {
    const poisoner = numberedContract(666);
    const poison = Array.from({ length: 30 }, (_, index) => entry(index, 1_000 - index, poisoner, true));
    const real = Array.from({ length: 20 }, (_, index) => entry(100 + index, 500 - index));
    const { recentActivity } = makeSnapshot(makeChainData(base, { activity: [...poison, ...real] }));
    expect(recentActivity.map(({ blockNumber }) => blockNumber)).toEqual([
      ...[0, 1, 2, 3, 4],
      ...Array.from({ length: 20 }, (_, index) => 100 + index),
    ]);
  });

  it("keeps what the wallet did on one chain under a flood of gifts on another", () => {
    const outsider = numberedContract(666);
    const gifts = Array.from({ length: 25 }, (_, index) => entry(index, 1_000 - index, outsider));
    const own = Array.from({ length: 25 }, (_, index) => entry(100 + index, 500 - index));
    const { recentActivity } = makeSnapshot(
      makeChainData(base, { activity: gifts }),
      makeChainData(ethereum, { activity: own }),
    );
    expect(recentActivity.filter(({ sender }) => sender === TEST_WALLET)).toHaveLength(13);
    expect(recentActivity.filter(({ sender }) => sender === outsider)).toHaveLength(12);
  });
});
