// Each reason for spam, the tokens that never are spam, and hostile names.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainConfig,
  makeHolding,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { CHAINS } from "../../chain/chains/chains.ts";
import { createChainConfig } from "../chain-nodes.ts";
import type { Holding } from "../types.ts";
import { loadTokenLists } from "./load-token-lists.ts";
import { findSpamReasons } from "./spam.ts";
import { getStablecoins } from "./stablecoins.ts";

const usdc = makeListedToken(1, "USDC", 6);
const trap = makeListedToken(2, "Claim USDC at https://trap.example");
/** A token with a pinned feed. */
const cbBtc = {
  ...makeListedToken(3, "cbBTC", 8),
  contract: "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf" as const,
};
const worthCopying = [
  usdc,
  ...["DAI", "UNI", "LINK", "WBTC"].map((symbol, i) => makeListedToken(10 + i, symbol)),
];
const chain = makeChainConfig(
  "base",
  8453,
  [...worthCopying, cbBtc, trap, makeListedToken(5, "PUMP"), { ...makeListedToken(4, "X"), symbol: null }],
  { stablecoins: new Set(worthCopying.map(({ contract }) => contract)) },
);

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
    ["Get 500 USDC at usdc-bonus.ai"],
    ["usdc.sbs"],
    ["usdc.icu"],
    ["bonus.page"],
    ["usdcbonus.eth"],
    ["usdcbonus。com"],
    ["usdcbonus｡com"],
    ["usdc-bonus[.]com"],
    ["usdc-bonus (dot) com"],
    ["usdc-bonus . com"],
    ["бонус.рф"],
  ])("finds a web address: %s", (name) => {
    expect(reasonsOf({ name })).toBe("The name or symbol contains a web address.");
    expect(reasonsOf({ symbol: name })).toBe("The name or symbol contains a web address.");
  });

  it.each([
    ["Claim 500 now"],
    ["VISIT us"],
    ["Rewards"],
    ["сlаim it"],
    ["cla\u200bim it"],
    ["Airdrop"],
    ["Cla1m your USDC"],
    ["VlSlT us"],
    ["R3deem"],
    ["C L A I M USDC"],
    ["cla\u2800im"],
  ])("finds a lure: %s", (name) => {
    expect(reasonsOf({ name })).toBe("The name or symbol invites to claim, visit or redeem something.");
  });

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
    ["ꓴꓢꓓꓚ"],
    ["ՍՏDC"],
    ["ᑌSDC"],
    ["USᗪC"],
    ["υsdc"],
    ["uꜱᴅᴄ"],
    ["🆄🆂🅳🅲"],
    ["🇺🇸🇩🇨"],
    ["ⓊⓈⒹⒸ"],
    ["U\u2800S\u3164DC"],
    ["DAІ"],
    ["DAΙ"],
    ["DAl"],
    ["DA1"],
    ["DA|"],
    ["UNΙ"],
    ["LІNK"],
    ["1INK"],
    ["WβTC"],
  ])("finds a copied symbol: %s", (symbol) => {
    expect(reasonsOf({ symbol })).toBe("The symbol reads like that of another, known asset.");
  });

  it("finds no copy in a symbol that any listed token happens to have, unless nothing is pinned", () => {
    expect(reasonsOf({ symbol: "PUMP" })).toBe("");
    const local = makeChainConfig("local", 31337, [makeListedToken(5, "PUMP")]);
    const holding = makeHolding(makeListedToken(99, "PUMP"), 1n);
    expect(findSpamReasons(holding, { chain: local, unpriced: false })).toHaveLength(1);
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
    ["St. Peter"],
    ["vAMM U.S.A"],
    ["Общий токен"],
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

  it("never marks a token that is proven, whatever its name, symbol or price", () => {
    const lure = { ...makeHolding(makeListedToken(99, "USDC"), 2n ** 255n), name: "claim at ether.fi" };
    expect(findSpamReasons(lure, { chain, unpriced: true, proven: true })).toEqual([]);
    expect(findSpamReasons(lure, { chain, unpriced: true, proven: false })).toHaveLength(5);
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
  ])("checks a name of megabytes within half a second", (name) => {
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

describe("real tokens whose names look like spam", () => {
  // Velodrome's second token shares its symbol with the first, which is dead; the others are named after their sites.
  it.each([
    ["optimism", "VELO", "VelodromeV2", "0x9560e827af36c94d2ac33a39bce1fe78631088db"],
    ["ethereum", "ETHFI", "ether.fi governance token", "0xfe0c30065b384f05761f15d0cc899d4f9f9cc0eb"],
    ["ethereum", "eETH", "ether.fi ETH", "0x35fa164735182de50811e8e2e824cfb9b6118ac2"],
    ["arbitrum", "YFI", "yearn.finance", "0x82e3a8f066a6989666b031d916c43672085b1582"],
    ["ethereum", "GALA", "Gala", "0xd1d2eb1b1e90b638588728b4130137d262c87cae"],
    ["ethereum", "WCT", "WalletConnect", "0xef4461891dfb3ac8572ccf7c794664a8dd927945"],
    ["ethereum", "ATH", "Aethir Token", "0xbe0ed4138121ecfc5c0e56b40517da27e6c5226b"],
    ["ethereum", "USDD", "Usdd Stablecoin", "0x4f8e5de400de08b164e7421b3ee387f461becd1a"],
  ] as const)("finds no spam on %s in the real token %s, %s", async (slug, symbol, name, contract) => {
    const chains = CHAINS.filter((info) => info.slug === slug);
    const lists = await loadTokenLists({ sources: [], chains });
    const [info] = chains;
    if (info === undefined) throw new Error(`${slug} is unknown`);
    const shipped = createChainConfig(info, { lists, stablecoinsOf: getStablecoins });
    const holding = { contract, symbol, name, decimals: 18, logo: null, rawBalance: 1n };
    expect(findSpamReasons(holding, { chain: shipped, unpriced: true })).toEqual([]);
  });
});
