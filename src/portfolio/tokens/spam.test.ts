// Each reason for spam, the tokens that never are spam, and hostile names.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainConfig,
  makeHolding,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Holding } from "../types.ts";
import { findSpamReasons } from "./spam.ts";

const usdc = makeListedToken(1, "USDC", 6);
const trap = makeListedToken(2, "Claim USDC at https://trap.example");
const chain = makeChainConfig("base", 8453, [
  usdc,
  makeListedToken(3, "cbBTC", 8),
  trap,
  { ...makeListedToken(4, "X"), symbol: null },
]);

function reasonsOf(more: Partial<Holding>, unpriced = false): string {
  return findSpamReasons(
    { ...makeHolding(makeListedToken(99, "FINE"), 1n), ...more },
    { chain, unpriced },
  ).join(" ");
}

describe("findSpamReasons", () => {
  it.each([
    ["https://a.example"],
    ["Go to www.prize"],
    ["usd-gift.com"],
    ["! t.me/coins"],
    ["BASE.FINANCE bonus"],
    ["ｗｗｗ．example"],
    ["$1000 at ether.xуz"],
  ])("finds a web address: %s", (name) => {
    expect(reasonsOf({ name })).toBe("The name or symbol contains a web address.");
    expect(reasonsOf({ symbol: name })).toBe("The name or symbol contains a web address.");
  });

  it.each([["Claim 500 now"], ["VISIT us"], ["Rewards"], ["сlаim it"], ["cla\u200bim it"], ["Airdrop"]])(
    "finds a lure: %s",
    (name) => {
      expect(reasonsOf({ name })).toBe("The name or symbol invites to claim, visit or redeem something.");
    },
  );

  it.each([
    ["USDC"],
    ["usdc"],
    ["USDС"],
    ["ＵＳＤＣ"],
    ["U\u200dSDC"],
    ["ÚSDC"],
    ["U$DC"],
    [" USDC."],
    ["CBBTC"],
    ["ETH"],
    ["ΕΤΗ"],
  ])("finds a copied symbol: %s", (symbol) => {
    expect(reasonsOf({ symbol })).toBe("The symbol reads like that of another, listed asset.");
  });

  it("finds an absurd balance, but not a large one", () => {
    expect(reasonsOf({ rawBalance: 2n ** 128n })).toBe("The balance is larger than any real token's supply.");
    expect(reasonsOf({ rawBalance: 2n ** 128n - 1n })).toBe("");
  });

  it("finds an unlisted token without a price", () => {
    expect(reasonsOf({}, true)).toBe("It is in no token list and no source has a price for it.");
    expect(reasonsOf({}, false)).toBe("");
  });

  it.each([
    ["Reclaim Protocol"],
    ["Proclaimer"],
    ["v1.0"],
    ["USDC.e"],
    ["Wrapped stETH 2.0"],
    ["Node.js"],
    ["..."],
    [""],
  ])("finds nothing in %s", (name) => {
    expect(reasonsOf({ name })).toBe("");
    expect(reasonsOf({ symbol: name })).toBe("");
  });

  it("finds nothing without a name or symbol", () => {
    expect(reasonsOf({ name: null, symbol: null })).toBe("");
  });

  it("never marks the native coin, a listed token or a known stablecoin", () => {
    const absurd = 2n ** 200n;
    const withStablecoin = makeChainConfig("base", 8453, [usdc], { stablecoins: new Set([trap.contract]) });
    expect(findSpamReasons(makeHolding(ETHER_ASSET, absurd), { chain, unpriced: true })).toEqual([]);
    expect(findSpamReasons(makeHolding(trap, absurd), { chain, unpriced: true })).toEqual([]);
    expect(findSpamReasons(makeHolding(trap, absurd), { chain: withStablecoin, unpriced: true })).toEqual([]);
  });

  it("returns all reasons", () => {
    expect(
      findSpamReasons(
        { ...makeHolding(makeListedToken(99, "USDC"), 2n ** 255n), name: "claim at a.com" },
        { chain, unpriced: true },
      ),
    ).toHaveLength(5);
  });

  it.each([
    ["a".repeat(5_000_000)],
    ["a.".repeat(2_000_000)],
    ["ﷺ".repeat(1_000_000)],
    ["\u0301".repeat(3_000_000)],
  ])("is fast for a name of megabytes", (name) => {
    const started = performance.now();
    reasonsOf({ name, symbol: name });
    expect(performance.now() - started).toBeLessThan(500);
  });

  it("never throws and returns only sentences", () => {
    const text = fc.option(fc.string({ unit: "grapheme", maxLength: 40 }));
    fc.assert(
      fc.property(text, text, fc.boolean(), (name, symbol, unpriced) => {
        for (const reason of findSpamReasons(
          { ...makeHolding(makeListedToken(99, ""), 1n), name, symbol },
          { chain, unpriced },
        )) {
          expect(reason).toMatch(/^[A-Z].*\.$/);
        }
      }),
    );
  });
});
