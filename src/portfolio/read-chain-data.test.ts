// An unpriced position: only then is its receipt token priced.
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
import { readWalletData } from "./snapshot.ts";
import { type Asset, getAssetKey, type PriceSource, quotePrice } from "./types.ts";

const signal = new AbortController().signal;
const usdc = makeListedToken(1, "USDC", 6);
const receipt = makeListedToken(2, "aUSDC", 6);
const base = makeChainConfig("base", 8453, [usdc, receipt]);

async function readWith(price: PriceSource["read"]) {
  const requested: (string | null)[][] = [];
  const read: PriceSource["read"] = (query, signal) => {
    requested.push(query.assets.map(({ symbol }) => symbol));
    return price(query, signal);
  };
  const position = makePosition({
    assets: [makeHolding(usdc, 7_000_000n)],
    receiptTokens: [receipt.contract],
  });
  const holdings = [makeHolding(receipt, 5_000_000n)];
  const data = await readWalletData(
    {
      provider: { name: "double", read: async () => ({ holdings, activity: [], warnings: [] }) },
      positionReaders: [{ protocol: "Lend", read: async () => ({ positions: [position], warnings: [] }) }],
      priceSources: [[{ name: "feed", read }]],
    },
    { at: await makeChainAccess(base).pin(signal), wallet: TEST_WALLET },
    signal,
  );
  return { requested, data, ...makeSnapshot(data) };
}

function priceOf(asset: Asset, units: bigint): PriceSource["read"] {
  const prices = new Map([[getAssetKey(asset), quotePrice({ units, scale: 0 })]]);
  return async () => ({ prices, warnings: [] });
}

// The chain of these tests has balances only.
const NO_FEES = "What transactions cost on Base is unknown: its fees could not be read.";

describe("a position with an unpriced asset", () => {
  it("shows an unpriced position as its receipt token if that has a price, with a warning", async () => {
    const { requested, tokens, positions, summary } = await readWith(priceOf(receipt, 2n));
    expect(requested).toEqual([["USDC"], ["aUSDC"]]);
    expect(positions).toEqual([]);
    expect(tokens).toMatchObject([{ symbol: "aUSDC", valueUsd: "10", priceSource: "feed" }]);
    expect(summary).toMatchObject({ totalValueUsd: "10", tokenCount: 1 });
    expect(summary.warnings.slice(1)).toEqual([
      NO_FEES,
      "Positions in Test on Base cannot be valued in full: their receipt tokens, which can, are shown as tokens instead.",
    ]);
  });

  it("keeps a position without a value when its receipt token has no price either", async () => {
    const { tokens, positions, summary } = await readWith(async () => ({ prices: new Map(), warnings: [] }));
    expect(tokens).toEqual([]);
    expect(positions).toMatchObject([{ valueUsd: null, assets: [{ symbol: "USDC" }] }]);
    expect(summary.totalValueUsd).toBeNull();
  });

  it("keeps an unpriced position, with a warning, when pricing its receipt token failed", async () => {
    const { data, positions } = await readWith(async ({ assets }) => {
      if (assets.some(({ symbol }) => symbol === "aUSDC")) throw new Error("down");
      return { prices: new Map(), warnings: [] };
    });
    expect(positions).toMatchObject([{ valueUsd: null }]);
    expect([...data.incompletePrices]).toEqual([receipt.contract]);
    expect(data.warnings).toEqual([
      NO_FEES,
      "Prices from feed are missing on Base: the source failed or timed out.",
    ]);
  });

  it("does not price a receipt token when the asset of its position has a price", async () => {
    const { requested, positions } = await readWith(priceOf(usdc, 1n));
    expect(positions).toMatchObject([{ valueUsd: "7" }]);
    expect(requested).toEqual([["USDC"]]);
  });
});
