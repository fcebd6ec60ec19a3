// Valued positions: they replace their receipt tokens, and debt is negative.
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
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import type { ChainData } from "./snapshot-data.ts";

const usdc = makeListedToken(1, "USDC", 6);
const well = makeListedToken(2, "WELL");
const vault = makeListedToken(3, "vUSDC");
const base = makeChainConfig("base", 8453, [usdc, well, vault], { stablecoins: new Set([usdc.contract]) });

function onBase(more: Partial<ChainData>): PortfolioSnapshot {
  return makeSnapshot(makeChainData(base, more));
}

describe("positions", () => {
  const prices = makePrices({ [usdc.contract]: "1", [well.contract]: "2", [vault.contract]: "1" });
  const inVault = makePosition({
    contract: vault.contract,
    assets: [makeHolding(usdc, 10_000_000n)],
    receiptTokens: [vault.contract],
  });

  it("positions replace their receipt tokens in every total", () => {
    const { tokens, positions, summary } = onBase({
      holdings: [makeHolding(vault, 9n * 10n ** 18n), makeHolding(usdc, 1_000_000n)],
      positions: [inVault],
      prices,
    });
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["USDC"]);
    expect(positions).toEqual([
      {
        ...{ chain: "base", chainId: "eip155:8453", protocol: "Test", kind: "vault", name: "Test" },
        contract: vault.contract,
        assets: [
          {
            ...{ contract: usdc.contract, symbol: "USDC", name: "USDC token", decimals: 6 },
            ...{ rawBalance: "10000000", balance: "10", priceUsd: "1", valueUsd: "10" },
            ...{ priceSource: "feed", priceContract: null, priceTimestamp: null },
          },
        ],
        valueUsd: "10",
        partial: false,
        selfReported: false,
      },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "11", stablecoinValueUsd: "11", tokenCount: 1 });
    expect(summary.chains).toMatchObject([{ totalValueUsd: "11" }]);
  });

  it("counts debt as a negative value, and not among the stablecoins held", () => {
    const debt = makePosition({ kind: "borrowed", assets: [makeHolding(usdc, 12_345_678n)] });
    const { positions, summary } = onBase({
      holdings: [makeHolding(usdc, 1_000_000n)],
      positions: [debt],
      prices,
    });
    expect(positions).toMatchObject([
      {
        valueUsd: "-12.345678",
        assets: [{ rawBalance: "12345678", balance: "12.345678", valueUsd: "-12.345678" }],
      },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "-11.345678", stablecoinValueUsd: "1" });
  });

  it("gives an amount no value that someone's code may keep, whatever its price, and says so", () => {
    const kept = { ...makeHolding(usdc, 10_000_000n), isPayoutUnproven: true };
    const { positions, summary } = onBase({ positions: [makePosition({ assets: [kept] })], prices });
    expect(positions).toMatchObject([{ valueUsd: null, assets: [{ balance: "10", valueUsd: null }] }]);
    expect(summary).toMatchObject({ totalValueUsd: null, stablecoinValueUsd: null, topHoldings: [] });
    expect(summary.warnings).toContain(
      "A position in Test on Base holds an asset without a known price or payout: it has no value and is missing in the totals.",
    );
  });

  it("omits empty assets of a position, and a position whose assets are all empty", () => {
    const { positions } = onBase({
      positions: [
        makePosition({ name: "half", assets: [makeHolding(usdc, 1n), makeHolding(well, 0n)] }),
        makePosition({ name: "none", assets: [makeHolding(well, 0n)] }),
      ],
      prices: makePrices({ [usdc.contract]: "1" }),
    });
    expect(positions).toMatchObject([{ name: "half", valueUsd: "0.000001", assets: [{ symbol: "USDC" }] }]);
  });

  it("replaces unvalued positions by valued receipt tokens, except debts and partly held ones", () => {
    const unpriced = {
      assets: [makeHolding(makeListedToken(9, "NEW"), 5n)],
      receiptTokens: [vault.contract],
    };
    const shown = (
      more: Parameters<typeof makePosition>[0],
      holdings = [makeHolding(vault, 3n * 10n ** 18n)],
    ) => {
      const { tokens, positions, summary } = onBase({
        holdings,
        positions: [makePosition({ ...unpriced, ...more })],
        prices,
      });
      return [tokens.map(({ symbol }) => symbol), positions.length, summary.totalValueUsd];
    };
    expect(shown({})).toEqual([["vUSDC"], 0, "3"]);
    expect(shown({ kind: "borrowed" })).toEqual([[], 1, null]);
    expect(shown({ receiptTokens: [vault.contract, well.contract] })).toEqual([[], 1, null]);
    expect(shown({}, [])).toEqual([[], 1, null]);
  });
});
