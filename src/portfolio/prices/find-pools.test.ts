// The budget of lookups: independent of the node, unlisted tokens last, and no token skipped in silence.
import { describe, expect, it } from "vitest";
import { openFailingChain } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig, makeListedToken } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { tokenAsset } from "../../../tests/support/portfolio/price-source-suite.ts";
import type { Hex } from "../../lib/hex.ts";
import { BlockResults } from "../contract-reads/read-groups.ts";
import type { PinnedChain, PriceSource } from "../types.ts";
import { findPools, readPools } from "./find-pools.ts";
import { createPoolPriceSource } from "./pool-prices.ts";
import { SPOT_MARKETS, type SpotMarket } from "./spot-markets.ts";
import { findPoolKind } from "./spot-pools.ts";

const { signal } = new AbortController();
const base = SPOT_MARKETS.get(8453) as SpotMarket;
/** Per token on Base: two quote tokens, and 16 pools that may exist with each. */
const LOOKUPS = 32;
const TOKENS_MAX = 16_000 / LOOKUPS;

const EMPTY_ARRAY: Hex = `0x${"20".padStart(64, "0")}${"0".repeat(64)}`;
const listed = makeListedToken(9_999, "LISTED");
const numbered = (index: number) => tokenAsset(`0x${(index + 1).toString(16).padStart(40, "0")}`);

/** A chain on which there is no pool; it counts what it is asked. */
function openEmptyChain(): PinnedChain & { readonly requests: Hex[] } {
  const requests: Hex[] = [];
  return {
    ...openFailingChain({ chain: makeChainConfig("base", 8453, [listed]), calls: [] }),
    requests,
    callWithOverride: async ({ data }) => {
      requests.push(data);
      return EMPTY_ARRAY;
    },
  };
}

describe("the budget of pool lookups", () => {
  it("allows 500 tokens on Base, in four calls of a few kilobytes", async () => {
    const at = openEmptyChain();
    const tokens = Array.from({ length: TOKENS_MAX + 3 }, (_, index) => ({
      ...{ contract: numbered(index).contract, decimals: 18, keys: [numbered(index).contract] },
      ...{ isListed: true, held: 0n },
    }));
    const { pools, unasked } = await findPools(at, base, tokens, signal);
    expect(pools).toEqual([]);
    expect(unasked).toEqual(tokens.slice(TOKENS_MAX));
    expect(at.requests).toHaveLength(4);
    for (const data of at.requests) expect(data.length / 2).toBeLessThan(10_000);
  });

  it("asks only for tokens that no other wallet has asked for at the block", async () => {
    const open = openEmptyChain();
    const results = new BlockResults(0);
    const other: Hex = `0x${"b2".repeat(20)}`;
    const search = (wallet: Hex, from: number, to: number) =>
      findPools(
        { ...open, results: results.of(wallet) },
        base,
        Array.from({ length: to - from }, (_, index) => {
          const { contract } = numbered(70_000 + from + index);
          return { ...{ contract, decimals: 18, keys: [contract] }, ...{ isListed: true, held: 0n } };
        }),
        signal,
      );
    await search(`0x${"a1".repeat(20)}`, 0, 3);
    await search(other, 0, 3);
    expect(open.requests).toHaveLength(1);
    await search(other, 2, 4);
    expect(open.requests).toHaveLength(2);
    expect(open.requests[1]).toContain(numbered(70_003).contract.slice(2));
    expect(open.requests[1]).not.toContain(numbered(70_002).contract.slice(2));
  });

  it("goes to listed tokens first; those beyond it are named as not asked", async () => {
    const at = openEmptyChain();
    const assets = [...Array.from({ length: TOKENS_MAX + 2 }, (_, index) => numbered(index)), listed];
    const source = createPoolPriceSource({ trusted: [] });
    const { unasked, warnings } = await source.read({ at, assets }, signal);
    expect([...(unasked ?? [])]).toEqual(
      assets.slice(TOKENS_MAX - 1, TOKENS_MAX + 2).map(({ contract }) => contract),
    );
    expect(warnings).toEqual([
      "Pools on Base were not searched for 3 of 503 tokens: too many for one snapshot.",
    ]);
  });

  it("asks early for tokens that no trusted source lists, and then not again", async () => {
    const open = openEmptyChain();
    const at = { ...open, results: new BlockResults(0).of(`0x${"a1".repeat(20)}`) };
    const [priced, unpriced] = [numbered(80_001), numbered(80_002)];
    const trusted: PriceSource = {
      name: "trusted",
      lists: (chainId, { contract }) => chainId === 8453 && contract === priced.contract,
      read: () => Promise.reject(new Error("no pool needs a price")),
    };
    const source = createPoolPriceSource({ trusted: [trusted] });
    await source.prefetch?.({ at, assets: [priced, unpriced] }, signal);
    expect(open.requests).toHaveLength(1);
    expect(open.requests[0]).toContain(unpriced.contract.slice(2));
    expect(open.requests[0]).not.toContain(priced.contract.slice(2));
    const { prices, unasked, warnings } = await source.read({ at, assets: [unpriced] }, signal);
    expect([prices.size, unasked?.size, warnings]).toEqual([0, 0, []]);
    expect(open.requests).toHaveLength(1);
  });

  it("looks up no pools on a chain whose factories are not known", async () => {
    const at = openEmptyChain();
    const elsewhere = { ...at, chain: { ...at.chain, chainId: 999 } };
    const source = createPoolPriceSource({ trusted: [] });
    expect((await source.read({ at: elsewhere, assets: [numbered(1)] }, signal)).prices.size).toBe(0);
    expect(at.requests).toEqual([]);
  });
});

describe("what wallets share of a block", () => {
  const STATE: Hex = `0x${"11".repeat(7 * 32)}`;
  const kind = findPoolKind({ kind: "uniswap-v3", factory: numbered(1).contract, fees: [500] });
  const quote = { token: numbered(2).contract, decimals: 18 };
  // Larger than the state of a pool: a smaller one may fit into what that leaves.
  const PRICES: Hex = `0x${"22".repeat(20 * 32)}`;
  const prices = { to: numbered(3).contract, data: PRICES };

  async function readThousandPools(isListed: boolean) {
    const results = new BlockResults(0).of(`0x${"a1".repeat(20)}`);
    // A node without Multicall3.
    const read: PinnedChain["read"] = async (calls) =>
      calls.map(({ gasMax }) => (gasMax === undefined ? STATE : null));
    const pools = Array.from({ length: 1_000 }, (_, index) => {
      const { contract } = numbered(10_000 + index);
      const token = { contract, decimals: 18, keys: [contract], isListed, held: 0n };
      return { address: numbered(20_000 + index).contract, kind, quote, token };
    });
    await readPools({ ...openEmptyChain(), read, results }, pools, signal);
    results.keep("prices", prices, PRICES);
    return results.find("prices");
  }

  it("has room for prices, however many pools the maker of a token opens", async () => {
    expect(await readThousandPools(true)).toBeUndefined();
    expect(await readThousandPools(false)).toBe(PRICES);
  });
});
