// A position whose asset nobody prices: its receipt token is asked for then, and only then.
import { describe, expect, it } from "vitest";
import {
  makeChainAccess,
  makeChainConfig,
  makeHolding,
  makeListedToken,
  makePosition,
  makeSnapshot,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { readChainData } from "./read-chain-data.ts";
import { type Asset, getAssetKey, type PriceSource } from "./types.ts";

const signal = new AbortController().signal;
const usdc = makeListedToken(1, "USDC", 6);
const receipt = makeListedToken(2, "aUSDC", 6);
const base = makeChainConfig("base", 8453, [usdc, receipt]);

async function take(price: PriceSource["read"]) {
  const asked: (string | null)[][] = [];
  const read: PriceSource["read"] = (question, signal) => {
    asked.push(question.assets.map(({ symbol }) => symbol));
    return price(question, signal);
  };
  const position = makePosition({
    assets: [makeHolding(usdc, 7_000_000n)],
    receiptTokens: [receipt.contract],
  });
  const holdings = [makeHolding(receipt, 5_000_000n)];
  const parts = await readChainData(
    {
      provider: { name: "double", read: async () => ({ holdings, activity: [], warnings: [] }) },
      readMetadata: async () => ({ holdings, warnings: [] }),
      positionReaders: [{ protocol: "Lend", read: async () => ({ positions: [position], warnings: [] }) }],
      priceSources: [[{ name: "feed", read }]],
    },
    makeChainAccess(base),
    TEST_WALLET,
    signal,
  );
  return { asked, parts, ...makeSnapshot(parts) };
}

function priceOf(asset: Asset, units: bigint): PriceSource["read"] {
  const prices = new Map([[getAssetKey(asset), { units, scale: 0 }]]);
  return async () => ({ prices, warnings: [] });
}

describe("a position whose asset nobody prices", () => {
  it("is shown as its receipt token where that has a price, and a warning says so", async () => {
    const { asked, tokens, positions, summary } = await take(priceOf(receipt, 2n));
    expect(asked).toEqual([["USDC"], ["aUSDC"]]);
    expect(positions).toEqual([]);
    expect(tokens).toMatchObject([{ symbol: "aUSDC", valueUsd: "10", priceSource: "feed" }]);
    expect(summary).toMatchObject({ totalValueUsd: "10", tokenCount: 1 });
    expect(summary.warnings.slice(1)).toEqual([
      "Positions in Test on Base can not be valued in full: their receipt tokens, which can, are shown as tokens instead.",
    ]);
  });

  it("stays a position without a value where the receipt token has no price either", async () => {
    const { tokens, positions, summary } = await take(async () => ({ prices: new Map(), warnings: [] }));
    expect(tokens).toEqual([]);
    expect(positions).toMatchObject([{ valueUsd: null, assets: [{ symbol: "USDC" }] }]);
    expect(summary.totalValueUsd).toBeNull();
  });

  it("stays one, with a warning, where the price of the receipt token could not be asked for", async () => {
    const { parts, positions } = await take(async ({ assets }) => {
      if (assets.some(({ symbol }) => symbol === "aUSDC")) throw new Error("down");
      return { prices: new Map(), warnings: [] };
    });
    expect(positions).toMatchObject([{ valueUsd: null }]);
    expect(parts.pricesComplete).toBe(false);
    expect(parts.warnings).toEqual(["Prices from feed are missing on Base: it did not answer as it should."]);
  });

  it("is the only one whose receipt token is asked for", async () => {
    const { asked, positions } = await take(priceOf(usdc, 1n));
    expect(positions).toMatchObject([{ valueUsd: "7" }]);
    expect(asked).toEqual([["USDC"]]);
  });
});
