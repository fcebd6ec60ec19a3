// The rules of the response, one test each.
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makePrices,
  makeSnapshot,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import { type ChainConfig, quotePrice } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";
import { excludeSpam } from "./value-snapshot.ts";

const usdc = makeListedToken(1, "USDC", 6);
const well = makeListedToken(2, "WELL");
const vault = makeListedToken(3, "vUSDC");
const base = makeChainConfig("base", 8453, [usdc, well, vault], { stablecoins: new Set([usdc.contract]) });
const ethereum = makeChainConfig("ethereum", 1, [usdc]);

function onBase(more: Partial<ChainData>): PortfolioSnapshot {
  return makeSnapshot(makeChainData(base, more));
}

describe("a snapshot", () => {
  it("a snapshot of an empty wallet has zeros and every requested chain, in order", () => {
    const snapshot = makeSnapshot(makeChainData(ethereum), makeChainData(base));
    expect(snapshot).toMatchObject({
      address: TEST_WALLET,
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

  it("lists a token with exact amounts, its price and the price source", () => {
    const holdings = [makeHolding(ETHER_ASSET, 1_234_567_890_123_456_789n)];
    const { tokens } = onBase({ holdings, prices: makePrices({ native: "2000.50" }) });
    expect(tokens).toEqual([
      {
        chain: "base",
        chainId: "eip155:8453",
        ...ETHER_ASSET,
        rawBalance: "1234567890123456789",
        balance: "1.234567890123456789",
        priceUsd: "2000.5",
        valueUsd: "2469.753064",
        ...{ priceSource: "feed", priceContract: null, priceTimestamp: null },
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
    const holdings = [makeHolding(well, BigInt(units) * 10n ** 18n)];
    expect(onBase({ holdings, prices: makePrices({ [well.contract]: price }) }).tokens[0]?.valueUsd).toBe(
      value,
    );
  });

  it("a snapshot has no total when no holding has a price, and warns about unpriced tokens", () => {
    const { summary, tokens } = onBase({ holdings: [makeHolding(well, 5n), makeHolding(usdc, 5n)] });
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

  it("omits zero balances and accepts zero decimals", () => {
    const whole = makeListedToken(4, "WHOLE", 0);
    const { tokens } = onBase({
      holdings: [makeHolding(well, 0n), makeHolding(whole, 12n)],
      incompletePrices: new Set([whole.contract]),
    });
    expect(tokens).toMatchObject([{ contract: whole.contract, balance: "12", decimals: 0 }]);
  });

  it.each([[null], [256], [-1], [1.5]])("shows only the raw balance when the decimals are %s", (decimals) => {
    const { tokens, summary } = onBase({
      holdings: [{ ...makeHolding(well, 5n), decimals }],
      prices: makePrices({ [well.contract]: "3" }),
    });
    expect(tokens).toMatchObject([
      { rawBalance: "5", balance: null, decimals: null, priceUsd: "3", valueUsd: null },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: null, unpricedTokenCount: 1 });
    expect(summary.warnings.join()).toContain("do not state their decimals on Base");
  });

  it("sorts by value, unpriced last, then by chain and contract", () => {
    const [a, b, c] = [makeListedToken(10, "A", 0), makeListedToken(11, "B", 0), makeListedToken(12, "C", 0)];
    const chainConfig = (slug: string, chainId: number): ChainConfig =>
      makeChainConfig(slug, chainId, [a, b, c]);
    const prices = makePrices({ native: "1", [a.contract]: "2", [b.contract]: "2" });
    const holdings = [
      makeHolding(c, 1n),
      makeHolding(b, 1n),
      makeHolding({ ...ETHER_ASSET, decimals: 0 }, 2n),
      makeHolding(a, 1n),
    ];
    const { tokens } = makeSnapshot(
      makeChainData(chainConfig("two", 2), { holdings, prices }),
      makeChainData(chainConfig("one", 1), { holdings, prices }),
    );
    expect(tokens.map(({ chain, symbol }) => `${chain} ${symbol}`)).toEqual([
      ...["two ETH", "two A", "two B", "one ETH", "one A", "one B"],
      ...["two C", "one C"],
    ]);
  });

  it("lists the ten largest priced holdings", () => {
    const many = Array.from({ length: 12 }, (_, index) => makeListedToken(100 + index, `T${index}`, 0));
    const prices = makePrices(
      Object.fromEntries(many.map(({ contract }, index) => [contract, String(index)])),
    );
    const { summary } = makeSnapshot(
      makeChainData(makeChainConfig("base", 8453, many), {
        holdings: many.map((token) => makeHolding(token, 1n)),
        prices,
      }),
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
      ...{ chain: "base", contract: numberedContract(111), symbol: "T11", name: "T11 token", valueUsd: "11" },
    });
  });
});

describe("spam", () => {
  const lure = { ...makeListedToken(66, "GIFT"), name: "Visit https://gift.example" };
  const data = {
    holdings: [makeHolding(lure, 10n ** 18n), makeHolding(usdc, 1_000_000n)],
    prices: makePrices({ [lure.contract]: "1000000", [usdc.contract]: "1" }),
  };

  it("lists and marks spam, and leaves it out of every total", () => {
    const { tokens, summary } = onBase(data);
    expect(tokens).toMatchObject([
      { contract: usdc.contract, spam: false },
      { contract: lure.contract, spam: true, priceUsd: null, valueUsd: null, priceSource: null },
    ]);
    expect(summary).toMatchObject({ totalValueUsd: "1", tokenCount: 2, pricedTokenCount: 1 });
    expect(summary.chains).toMatchObject([{ totalValueUsd: "1", tokenCount: 2 }]);
    expect(summary.topHoldings.map(({ symbol }) => symbol)).toEqual(["USDC"]);
    expect(summary.warnings).toContain(
      `Classified as spam on Base and not counted: ${lure.contract}. The name or symbol contains a web address.`,
    );
    // A language model may read the warnings, so they must not contain the lure.
    expect(summary.warnings.join()).not.toContain("gift.example");
  });

  it("says how much of the total rests on prices of tokens that no list has", () => {
    const unlisted = { ...makeListedToken(77, "MOON"), name: "Moon" };
    const pools = { ...quotePrice({ units: 3n, scale: 0 }, { payableUsdMax: { units: 10n, scale: 0 } }) };
    const { summary } = onBase({
      holdings: [makeHolding(usdc, 10n ** 6n), makeHolding(unlisted, 2n * 10n ** 18n)],
      prices: new Map([
        ...makePrices({ [usdc.contract]: "1" }),
        [unlisted.contract, { ...pools, source: "pools" }],
      ]),
    });
    expect(summary).toMatchObject({ totalValueUsd: "7", unlistedValueUsd: "6" });
  });

  it("values a wallet of spam alone at zero", () => {
    const { summary } = onBase({ holdings: [makeHolding(lure, 1n)] });
    expect(summary).toMatchObject({ totalValueUsd: "0", tokenCount: 1 });
  });

  it("excludes spam from the list and its counts, says how much, and changes nothing else", () => {
    const snapshot = onBase(data);
    const view = excludeSpam(snapshot);
    expect(view.tokens.map(({ symbol }) => symbol)).toEqual(["USDC"]);
    const counts = { tokenCount: 1, pricedTokenCount: 1, unpricedTokenCount: 0 };
    expect(view.summary).toMatchObject({ ...counts, chains: [counts] });
    const { chains, warnings, ...rest } = snapshot.summary;
    const countless = {
      ...{ ...rest, chains: chains.map((chain) => ({ ...chain, ...counts })), ...counts },
      warnings: [...warnings, "1 token marked as spam is not listed: spam=include lists it."],
    };
    expect(excludeSpam(view)).toEqual(view);
    expect(view).toEqual({ ...snapshot, tokens: view.tokens, summary: countless });
  });
});

describe("warnings", () => {
  it("warnings start with the block, are distinct and limited", () => {
    const warnings = Array.from({ length: 40 }, (_, index) => `Warning ${index % 30}.`);
    const found = makeSnapshot(
      makeChainData(base, { warnings }),
      makeChainData(ethereum, { warnings: ["Warning 0."] }),
    ).summary.warnings;
    expect(found[0]).toBe(`Base was read at block 7 (0x${"ab".repeat(32)}).`);
    expect(found.filter((warning) => warning === "Warning 0.")).toHaveLength(1);
    expect(found).toContain("5 more warnings about Base are left out here.");
    expect(found).toHaveLength(1 + 25 + 1 + 1);
  });
});

describe("a warning", () => {
  it("names fifty tokens and counts the others", () => {
    const many = Array.from({ length: 60 }, (_, index) => makeListedToken(1_000 + index, `Claim ${index}`));
    const { summary, tokens } = onBase({
      holdings: many.map((token) => makeHolding(token, 1n)),
      incompletePrices: new Set(many.map(({ contract }) => contract)),
    });
    expect(tokens.filter(({ spam }) => spam)).toHaveLength(60);
    expect(summary.warnings[1]).toContain(
      `${numberedContract(1_049)} and 10 more. The name or symbol invites`,
    );
    expect(summary.warnings).toHaveLength(2);
  });
});
