// Accounts with debt, partial positions, prices of markets, and values limited by pools: what counts in which total.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makePosition,
  makePrices,
  makeSnapshot,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { parseDecimal } from "../../lib/decimal.ts";
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import { type AssetPrice, type PositionAsset, quotePrice } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

const usdc = makeListedToken(1, "USDC", 6);
const fund = makeListedToken(2, "FUND", 6);
const meme = makeListedToken(3, "MEME", 18);
const base = makeChainConfig("base", 8453, [usdc, fund, meme], { stablecoins: new Set([usdc.contract]) });
const ethereum = makeChainConfig("ethereum", 1, [usdc]);
const dollar = makePrices({ [usdc.contract]: "1" });

function onBase(more: Partial<ChainData>): PortfolioSnapshot {
  return makeSnapshot(makeChainData(base, more));
}

function marketPrice(usd: string): AssetPrice {
  return { ...quotePrice(parseDecimal(usd, "price"), { contract: fund.contract }), source: "aave-v3" };
}

const million = 1_000_000_000000n;
const supplied = (...assets: readonly PositionAsset[]) =>
  makePosition({ kind: "supplied", name: "collateral", market: "second", assets });
const borrowed = (...assets: readonly PositionAsset[]) =>
  makePosition({ kind: "borrowed", name: "debt", market: "second", assets });

describe("an account with debt", () => {
  const debt = borrowed(makeHolding(usdc, 699_930_000000n));

  it("makes the totals unknown when its collateral has no price, instead of negative", () => {
    const wallet = { holdings: [makeHolding(usdc, 5_000000n)], prices: dollar };
    const { summary, positions } = makeSnapshot(
      makeChainData(base, { ...wallet, positions: [supplied(makeHolding(fund, million)), debt] }),
      makeChainData(ethereum, wallet),
    );
    expect(summary.totalValueUsd).toBeNull();
    expect(summary.chains.map(({ totalValueUsd }) => totalValueUsd)).toEqual([null, "5"]);
    expect(positions.map(({ valueUsd }) => valueUsd)).toEqual(["-699930", null]);
    expect(summary.warnings).toContain(
      "The total value on Base is unknown: the wallet owes in Test, or may, and not everything that it holds or owes there has a known value.",
    );
  });

  it("makes the totals unknown when the debt itself has no price", () => {
    const owed = borrowed(makeHolding(fund, 5n));
    expect(
      onBase({ positions: [supplied(makeHolding(usdc, million)), owed], prices: dollar }).summary
        .totalValueUsd,
    ).toBeNull();
    expect(
      onBase({
        holdings: [makeHolding(usdc, 5n)],
        positions: [{ ...owed, market: null }],
        prices: dollar,
      }).summary.totalValueUsd,
    ).toBeNull();
  });

  it("makes the totals unknown when a part of it could not be read", () => {
    const { summary } = onBase({ positions: [{ ...debt, incomplete: true }], prices: dollar });
    expect(summary.totalValueUsd).toBeNull();
    // A failed read may hide a debt.
    const collateral = supplied(makeHolding(usdc, million));
    expect(onBase({ positions: [collateral], prices: dollar }).summary.totalValueUsd).toBe("1000000");
    const part = onBase({ positions: [{ ...collateral, incomplete: true }], prices: dollar });
    expect(part.summary.totalValueUsd).toBeNull();
  });

  it("makes the totals unknown when it could not be read at all, whatever else is known", () => {
    const wallet = { holdings: [makeHolding(usdc, 5_000000n)], prices: dollar };
    const { summary } = makeSnapshot(
      makeChainData(base, { ...wallet, unreadDebts: new Set(["aave-v3"]) }),
      makeChainData(ethereum, wallet),
    );
    expect(summary.totalValueUsd).toBeNull();
    expect(summary.chains.map(({ totalValueUsd }) => totalValueUsd)).toEqual([null, "5"]);
    expect(summary).toMatchObject({ stablecoinValueUsd: "5", pricedTokenCount: 2 });
    expect(summary.warnings).toContain(
      "The total value on Base is unknown: what the wallet may owe in aave-v3 could not be read.",
    );
  });

  it("values an account with debt when its market prices the collateral", () => {
    const collateral = { ...makeHolding(fund, million), marketPrice: marketPrice("1") };
    const { summary, positions } = onBase({ positions: [supplied(collateral), debt], prices: dollar });
    expect(summary).toMatchObject({ totalValueUsd: "300070", stablecoinValueUsd: "0" });
    expect(positions[0]?.assets[0]).toMatchObject({
      ...{ priceUsd: "1", priceSource: "aave-v3", priceContract: fund.contract },
    });
  });

  it("a debt in one market leaves totals known despite an unpriced supply in another", () => {
    const elsewhere = { ...supplied(makeHolding(fund, million)), market: "first" };
    const { summary } = onBase({
      holdings: [makeHolding(usdc, million)],
      positions: [elsewhere, debt],
      prices: dollar,
    });
    expect(summary.totalValueUsd).toBe("300070");
  });

  it("leaves an unpriced supply without debt out of the totals, with a warning", () => {
    const { summary } = onBase({
      holdings: [makeHolding(usdc, 5_000000n)],
      positions: [supplied(makeHolding(fund, million))],
      prices: dollar,
    });
    expect(summary.totalValueUsd).toBe("5");
    expect(summary.warnings.join()).toContain("it has no value and is missing in the totals");
  });
});

describe("a price of a market", () => {
  it("a price of a market is for its position only, and any price source comes before it", () => {
    const asset = { ...makeHolding(fund, million), marketPrice: marketPrice("7") };
    const { tokens, positions } = onBase({
      holdings: [makeHolding(fund, 1n)],
      positions: [supplied(asset)],
    });
    expect(tokens[0]?.priceUsd).toBeNull();
    expect(positions[0]?.valueUsd).toBe("7000000");
    const sourced = onBase({ positions: [supplied(asset)], prices: makePrices({ [fund.contract]: "2" }) });
    expect(sourced.positions[0]?.assets[0]).toMatchObject({ priceUsd: "2", priceSource: "feed" });
  });

  it("converts a market price in another asset to dollars, or to none without its price", () => {
    const rate = {
      ...{ rate: parseDecimal("0.5", "rate"), per: usdc, source: "compound-v3" },
      ...{ contract: meme.contract, timestamp: null },
    };
    const position = supplied({ ...makeHolding(fund, 3_000000n), marketRate: rate });
    expect(
      onBase({ positions: [position], prices: makePrices({ [usdc.contract]: "0.99" }) }).positions,
    ).toMatchObject([{ valueUsd: "1.485", assets: [{ priceUsd: "0.495", priceSource: "compound-v3" }] }]);
    expect(onBase({ positions: [position] }).positions).toMatchObject([{ valueUsd: null }]);
  });
});

describe("a position with one unpriced leg", () => {
  it("counts a position with its known leg, and marks it as partial", () => {
    const pair = makePosition({
      kind: "liquidity",
      assets: [makeHolding(usdc, 30_000_000000n), makeHolding(meme, 1n)],
    });
    const { positions, summary } = onBase({ positions: [pair], prices: dollar });
    expect(positions).toMatchObject([{ valueUsd: "30000", partial: true }]);
    expect(summary).toMatchObject({ totalValueUsd: "30000", stablecoinValueUsd: "30000" });
    expect(summary.warnings.join()).toContain(
      "A position in Test on Base is valued in part: an asset without a known price is missing in it and in the totals.",
    );
  });

  it("a position is not partial with all legs or none known", () => {
    const single = (amount: bigint) => makePosition({ assets: [makeHolding(usdc, amount)] });
    expect(onBase({ positions: [single(1n)], prices: dollar }).positions[0]?.partial).toBe(false);
    expect(onBase({ positions: [single(1n)] }).positions[0]).toMatchObject({
      ...{ partial: false, valueUsd: null },
    });
  });
});

describe("a spot price", () => {
  const spot = (payable: string): ChainData["prices"] => {
    const quoted = quotePrice(parseDecimal("3000", "price"), {
      payableUsdMax: parseDecimal(payable, "payable"),
      provesToken: true,
    });
    return new Map([...dollar, [meme.contract, { ...quoted, source: "spot" }]]);
  };
  const whole = 10n ** 18n;

  it("values at most what its pools could pay, over wallet and positions together", () => {
    const { tokens, positions, summary } = onBase({
      holdings: [makeHolding(meme, 10n * whole)],
      positions: [makePosition({ assets: [makeHolding(meme, 1_000_000n * whole)] })],
      prices: spot("54000.0000009"),
    });
    expect([tokens[0]?.valueUsd, positions[0]?.valueUsd]).toEqual(["30000", "24000"]);
    expect(summary.totalValueUsd).toBe("54000");
    expect(summary.warnings).toContain(
      `The markets behind the prices of these assets on Base could, as far as is known, pay less than balance × price, and their values are limited to that: ${meme.contract}.`,
    );
  });

  it("does not limit a debt, and makes an account with debt unknown if it limits", () => {
    const owed = onBase({ positions: [borrowed(makeHolding(meme, 100n * whole))], prices: spot("54000") });
    expect(owed.summary.totalValueUsd).toBe("-300000");
    const secured = [supplied(makeHolding(meme, 100n * whole)), borrowed(makeHolding(usdc, million))];
    expect(onBase({ positions: secured, prices: spot("54000") }).summary.totalValueUsd).toBeNull();
  });
});

describe("top holdings", () => {
  it("top holdings include positions, but no debt", () => {
    const { summary } = onBase({
      holdings: [makeHolding(usdc, 10_000000n)],
      positions: [
        makePosition({
          contract: fund.contract,
          name: "Aave v3: USDC",
          assets: [makeHolding(usdc, million)],
        }),
        makePosition({ kind: "borrowed", name: "debt", assets: [makeHolding(usdc, 1n)] }),
        makePosition({
          ...{ kind: "liquidity", name: "Pair", contract: null },
          assets: [makeHolding(usdc, 20_000000n), makeHolding(fund, 1n)],
        }),
      ],
      prices: dollar,
    });
    expect(summary.topHoldings).toEqual([
      {
        ...{ chain: "base", contract: fund.contract, symbol: "USDC", name: "Aave v3: USDC" },
        valueUsd: "1000000",
      },
      { chain: "base", contract: null, symbol: "USDC/FUND", name: "Pair", valueUsd: "20" },
      { chain: "base", contract: usdc.contract, symbol: "USDC", name: "USDC token", valueUsd: "10" },
    ]);
  });
});
