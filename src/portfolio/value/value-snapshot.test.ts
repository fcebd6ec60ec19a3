// Every decision about the answer, one row each.
import { describe, expect, it } from "vitest";
import {
  bookOf,
  contractOf,
  ether,
  held,
  listed,
  partsOf,
  positionOf,
  WALLET,
} from "../../../tests/support/portfolio-parts.ts";
import { parseDecimal } from "../../kit/decimal.ts";
import type { AssetKey, ChainBook } from "../ports.ts";
import type { PortfolioSnapshot } from "./portfolio-snapshot.ts";
import type { AssetPrice, ChainParts } from "./snapshot-parts.ts";
import { valueSnapshot } from "./value-snapshot.ts";
import { withoutSpam } from "./without-spam.ts";

const usdc = listed(1, "USDC", 6);
const well = listed(2, "WELL");
const vault = listed(3, "vUSDC");
const base = bookOf("base", 8453, [usdc, well, vault], { stablecoins: new Set([usdc.contract]) });
const ethereum = bookOf("ethereum", 1, [usdc]);

function snapshotOf(...chains: readonly ChainParts[]): PortfolioSnapshot {
  return valueSnapshot({ wallet: WALLET, takenAtMs: 1_700_000_000_123, provider: "rpc", chains });
}

function onBase(more: Partial<ChainParts>): PortfolioSnapshot {
  return snapshotOf(partsOf(base, more));
}

function priced(prices: Partial<Record<AssetKey, string>>): ReadonlyMap<AssetKey, AssetPrice> {
  const entries = Object.entries(prices) as [AssetKey, string][];
  return new Map(entries.map(([key, text]) => [key, { price: parseDecimal(text, "price"), source: "feed" }]));
}

describe("a snapshot", () => {
  it("of an empty wallet has zeros and every requested chain, in the order of the request", () => {
    const snapshot = snapshotOf(partsOf(ethereum), partsOf(base));
    expect(snapshot).toMatchObject({
      address: WALLET,
      timestamp: "2023-11-14T22:13:20.123Z",
      chains: ["ethereum", "base"],
      tokens: [],
      positions: [],
      recentActivity: [],
      provider: "rpc",
    });
    const empty = { tokenCount: 0, pricedTokenCount: 0, unpricedTokenCount: 0, totalValueUsd: "0" };
    expect(snapshot.summary).toMatchObject({
      ...empty,
      stablecoinValueUsd: "0",
      chains: [
        { chain: "ethereum", ...empty },
        { chain: "base", ...empty },
      ],
      topHoldings: [],
    });
  });

  it("shows a token with exact amounts, its price and where that comes from", () => {
    const holdings = [held(ether, 1_234_567_890_123_456_789n)];
    const { tokens } = onBase({ holdings, prices: priced({ native: "2000.50" }) });
    expect(tokens).toEqual([
      {
        chain: "base",
        chainId: "eip155:8453",
        ...ether,
        rawBalance: "1234567890123456789",
        balance: "1.234567890123456789",
        priceUsd: "2000.5",
        valueUsd: "2469.753064",
        priceSource: "feed",
        spam: false,
      },
    ]);
  });

  it.each([
    ["1", "0.0000005", "0.000001"],
    ["1", "0.00000049999", "0"],
    ["3", "0.333333333333", "1"],
    ["1", "0", "0"],
  ])("rounds %s × %s half up to %s", (units, price, value) => {
    const holdings = [held(well, BigInt(units) * 10n ** 18n)];
    expect(onBase({ holdings, prices: priced({ [well.contract]: price }) }).tokens[0]?.valueUsd).toBe(value);
  });

  it("has no total while nothing held has a price, and says what has none", () => {
    const { summary, tokens } = onBase({ holdings: [held(well, 5n), held(usdc, 5n)] });
    expect(tokens.map(({ valueUsd, priceSource }) => [valueUsd, priceSource])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(summary).toMatchObject({
      totalValueUsd: null,
      stablecoinValueUsd: null,
      unpricedTokenCount: 2,
      chains: [{ totalValueUsd: null }],
    });
    expect(summary.warnings.join()).toContain(
      `have no known price on Base and are missing in its totals: ${usdc.contract}, ${well.contract}.`,
    );
  });

  it("leaves zero balances out and lets zero decimals be real", () => {
    const whole = listed(4, "WHOLE", 0);
    const { tokens } = onBase({ holdings: [held(well, 0n), held(whole, 12n)], pricesComplete: false });
    expect(tokens).toMatchObject([{ contract: whole.contract, balance: "12", decimals: 0 }]);
  });

  it.each([[null], [256], [-1], [1.5]])(
    "shows the raw balance only where the decimals are %s",
    (decimals) => {
      const { tokens, summary } = onBase({
        holdings: [{ ...held(well, 5n), decimals }],
        prices: priced({ [well.contract]: "3" }),
      });
      expect(tokens).toMatchObject([
        { rawBalance: "5", balance: null, decimals: null, priceUsd: "3", valueUsd: null },
      ]);
      expect(summary).toMatchObject({ totalValueUsd: null, unpricedTokenCount: 1 });
      expect(summary.warnings.join()).toContain("do not state their decimals on Base");
    },
  );

  it("orders by value, the unpriced last, then by chain and contract", () => {
    const [a, b, c] = [listed(10, "A", 0), listed(11, "B", 0), listed(12, "C", 0)];
    const book = (slug: string, chainId: number): ChainBook => bookOf(slug, chainId, [a, b, c]);
    const prices = priced({ native: "1", [a.contract]: "2", [b.contract]: "2" });
    const holdings = [held(c, 1n), held(b, 1n), held({ ...ether, decimals: 0 }, 2n), held(a, 1n)];
    const { tokens } = snapshotOf(
      partsOf(book("two", 2), { holdings, prices }),
      partsOf(book("one", 1), { holdings, prices }),
    );
    expect(tokens.map(({ chain, symbol }) => `${chain} ${symbol}`)).toEqual([
      ...["two ETH", "two A", "two B", "one ETH", "one A", "one B"],
      ...["two C", "one C"],
    ]);
  });

  it("names the ten largest priced holdings", () => {
    const many = Array.from({ length: 12 }, (_, index) => listed(100 + index, `T${index}`, 0));
    const prices = priced(Object.fromEntries(many.map(({ contract }, index) => [contract, String(index)])));
    const { summary } = snapshotOf(
      partsOf(bookOf("base", 8453, many), { holdings: many.map((token) => held(token, 1n)), prices }),
    );
    expect(summary.topHoldings.map(({ valueUsd }) => valueUsd)).toEqual([
      "11",
      "10",
      "9",
      "8",
      "7",
      "6",
      "5",
      "4",
      "3",
      "2",
    ]);
    expect(summary.topHoldings[0]).toEqual({
      ...{ chain: "base", contract: contractOf(111), symbol: "T11", name: "T11 token", valueUsd: "11" },
    });
  });
});

describe("positions", () => {
  const prices = priced({ [usdc.contract]: "1", [well.contract]: "2", [vault.contract]: "1" });
  const inVault = positionOf({
    contract: vault.contract,
    assets: [held(usdc, 10_000_000n)],
    replaces: [vault.contract],
  });

  it("stand for their receipt tokens, in every total", () => {
    const { tokens, positions, summary } = onBase({
      holdings: [held(vault, 9n * 10n ** 18n), held(usdc, 1_000_000n)],
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
          },
        ],
        valueUsd: "10",
      },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "11", stablecoinValueUsd: "11", tokenCount: 1 });
    expect(summary.chains).toMatchObject([{ totalValueUsd: "11" }]);
  });

  it("that are debts are worth less than nothing, in stablecoins too", () => {
    const debt = positionOf({ kind: "borrowed", assets: [held(usdc, 12_345_678n)] });
    const { positions, summary } = onBase({ holdings: [held(usdc, 1_000_000n)], positions: [debt], prices });
    expect(positions).toMatchObject([
      {
        valueUsd: "-12.345678",
        assets: [{ rawBalance: "12345678", balance: "12.345678", valueUsd: "-12.345678" }],
      },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "-11.345678", stablecoinValueUsd: "-11.345678" });
  });

  it("have no value while one of their assets has none; nothing of them counts then", () => {
    const pair = positionOf({ kind: "liquidity", assets: [held(usdc, 5_000_000n), held(well, 1n)] });
    const { positions, summary } = onBase({
      holdings: [held(usdc, 1_000_000n)],
      positions: [pair],
      prices: priced({ [usdc.contract]: "1" }),
    });
    expect(positions).toMatchObject([{ valueUsd: null, assets: [{ valueUsd: "5" }, { valueUsd: null }] }]);
    expect(summary).toMatchObject({ totalValueUsd: "1", stablecoinValueUsd: "1" });
    expect(summary.warnings.join()).toContain(
      "A position in Test on Base holds an asset without a known price",
    );
  });

  it("drop assets of which there is nothing, and vanish with the last of them", () => {
    const { positions } = onBase({
      positions: [
        positionOf({ name: "half", assets: [held(usdc, 1n), held(well, 0n)] }),
        positionOf({ name: "none", assets: [held(well, 0n)] }),
      ],
      prices: priced({ [usdc.contract]: "1" }),
    });
    expect(positions).toMatchObject([{ name: "half", valueUsd: "0.000001", assets: [{ symbol: "USDC" }] }]);
  });
});

describe("spam", () => {
  const lure = { ...listed(66, "GIFT"), name: "Visit https://gift.example" };
  const parts = {
    holdings: [held(lure, 10n ** 18n), held(usdc, 1_000_000n)],
    prices: priced({ [lure.contract]: "1000000", [usdc.contract]: "1" }),
  };

  it("is listed and marked, and counts nowhere", () => {
    const { tokens, summary } = onBase(parts);
    expect(tokens).toMatchObject([
      { contract: lure.contract, spam: true, valueUsd: "1000000", priceSource: "feed" },
      { contract: usdc.contract, spam: false },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "1", tokenCount: 1, pricedTokenCount: 1 });
    expect(summary.chains).toMatchObject([{ totalValueUsd: "1", tokenCount: 1 }]);
    expect(summary.topHoldings.map(({ symbol }) => symbol)).toEqual(["USDC"]);
    expect(summary.warnings).toContain(
      `Taken for spam on Base and not counted: ${lure.contract}. The name or symbol contains a web address.`,
    );
    // Whoever reads the warnings, perhaps a language model, is not handed the bait.
    expect(summary.warnings.join()).not.toContain("gift.example");
  });

  it("alone leaves an empty wallet", () => {
    const { summary } = onBase({ holdings: [held(lure, 1n)] });
    expect(summary).toMatchObject({ totalValueUsd: "0", tokenCount: 0 });
  });

  it("can be left out of the list, which changes nothing else", () => {
    const snapshot = onBase(parts);
    const view = withoutSpam(snapshot);
    expect(view.tokens.map(({ symbol }) => symbol)).toEqual(["USDC"]);
    expect({ ...view, tokens: snapshot.tokens }).toEqual(snapshot);
  });
});

describe("warnings", () => {
  it("begin with the block, name nothing twice and are capped", () => {
    const warnings = Array.from({ length: 40 }, (_, index) => `Warning ${index % 30}.`);
    const found = snapshotOf(partsOf(base, { warnings }), partsOf(ethereum, { warnings: ["Warning 0."] }))
      .summary.warnings;
    expect(found[0]).toBe(`Base was read at block 7 (0x${"ab".repeat(32)}).`);
    expect(found.filter((warning) => warning === "Warning 0.")).toHaveLength(1);
    expect(found).toContain("5 more warnings about Base are left out here.");
    expect(found).toHaveLength(1 + 25 + 1 + 1);
  });
});

describe("a warning", () => {
  it("names fifty tokens and counts the rest", () => {
    const many = Array.from({ length: 60 }, (_, index) => listed(1_000 + index, `Claim ${index}`));
    const { summary, tokens } = onBase({
      holdings: many.map((token) => held(token, 1n)),
      pricesComplete: false,
    });
    expect(tokens.filter(({ spam }) => spam)).toHaveLength(60);
    expect(summary.warnings[1]).toContain(`${contractOf(1_049)} and 10 more. The name or symbol invites`);
    expect(summary.warnings).toHaveLength(2);
  });
});

describe("recent activity", () => {
  const entry = (number: number, timestamp: number | null) => ({
    ...{ hash: contractOf(number), from: WALLET, to: null, blockNumber: number, timestamp },
  });

  it("is the newest of all chains, with times as text and the timeless last", () => {
    const { recentActivity } = snapshotOf(
      partsOf(base, { activity: [entry(3, 300), entry(2, null), entry(1, 100)] }),
      partsOf(ethereum, { activity: [entry(4, 200), entry(5, 100), entry(6, 9e15)] }),
    );
    expect(recentActivity.map(({ chain, blockNumber }) => `${chain} ${blockNumber}`)).toEqual([
      ...["base 3", "ethereum 4", "base 1", "ethereum 5", "base 2", "ethereum 6"],
    ]);
    expect(recentActivity[0]).toEqual({
      ...{ chain: "base", hash: contractOf(3), from: WALLET, to: null, blockNumber: 3 },
      timestamp: "1970-01-01T00:05:00.000Z",
    });
    expect(recentActivity.filter(({ timestamp }) => timestamp === null)).toHaveLength(2);
  });

  it("stops after 25", () => {
    const activity = Array.from({ length: 30 }, (_, index) => entry(index, 1_000 - index));
    expect(onBase({ activity }).recentActivity.map(({ blockNumber }) => blockNumber)).toEqual(
      Array.from({ length: 25 }, (_, index) => index),
    );
  });
});
