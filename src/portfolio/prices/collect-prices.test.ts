// Collecting prices: groups in sequence, the earlier source wins, a failing source becomes a warning.
import { describe, expect, it } from "vitest";
import { openRecordedChain, readChainRecord } from "../../../tests/support/chain/recorded-chain.ts";
import {
  ETHER_ASSET,
  makeChainAccess,
  makeChainConfig,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { BlockResults } from "../contract-reads/read-groups.ts";
import {
  type Asset,
  type AssetKey,
  getAssetKey,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { createChainlinkSource } from "./chainlink.ts";
import {
  collectPrices,
  createProviderPriceSource,
  type PriceSourceGroups,
  prefetchPrices,
} from "./collect-prices.ts";

const signal = new AbortController().signal;
const at = await makeChainAccess(makeChainConfig("base", 8453)).pin(signal);
const [one, two, three] = [makeListedToken(1, "ONE"), makeListedToken(2, "TWO"), makeListedToken(3, "THREE")];

type Source = PriceSource & { readonly requested: string[] };

function source(name: string, prices: Partial<Record<AssetKey, bigint>>, warnings: string[] = []): Source {
  const requested: string[] = [];
  return {
    name,
    requested,
    read: async ({ assets }) => {
      requested.push(assets.map(({ symbol }) => symbol).join());
      const entries = Object.entries(prices) as [AssetKey, bigint][];
      return {
        prices: new Map(
          entries.map(([key, units]): [AssetKey, QuotedPrice] => [key, quotePrice({ units, scale: 0 })]),
        ),
        warnings,
      };
    },
  };
}

const broken: PriceSource = { name: "Broken", read: () => Promise.reject(new Error("secret")) };

async function collect(sources: PriceSourceGroups, assets: readonly Asset[] = [ETHER_ASSET, one, two]) {
  const { prices, ...rest } = await collectPrices(sources, { at, assets }, signal);
  const texts = assets.map((asset) => {
    const found = prices.get(getAssetKey(asset));
    return found ? `${asset.symbol} ${found.usd.units} ${found.source}` : asset.symbol;
  });
  return { ...rest, texts };
}

describe("collectPrices", () => {
  it("leaves out a source of the present as of a block, and says so", async () => {
    const chain = source("Chain", { native: 1n });
    const vendor = { ...source("Vendor", { [one.contract]: 2n }), presentOnly: true };
    const past = { ...at, asOf: true };
    const assets = [ETHER_ASSET, one];
    const { prices, incompletePrices, warnings } = await collectPrices(
      [[chain], [vendor]],
      { at: past, assets },
      signal,
    );
    expect([...prices.keys()]).toEqual(["native"]);
    expect([...incompletePrices]).toEqual([one.contract]);
    expect(warnings).toEqual([
      "Prices from Vendor are missing on Base: the source knows only the newest, and these are as of a block.",
    ]);
    expect(vendor.requested).toEqual([]);
    expect((await collectPrices([[chain], [vendor]], { at, assets }, signal)).prices.size).toBe(2);
  });

  it("takes the price of the first group that has one, and within it of the earlier source", async () => {
    const a = source("A", { native: 1n });
    const b = source("B", { native: 2n, [one.contract]: 3n });
    const c = source("C", { native: 4n, [one.contract]: 5n, [two.contract]: 6n }, ["C is old."]);
    const late = source("D", {});
    expect(await collect([[a, b], [c], [late]])).toEqual({
      texts: ["ETH 1 A", "ONE 3 B", "TWO 6 C"],
      incompletePrices: new Set(),
      warnings: ["C is old."],
    });
    expect([a.requested, b.requested, c.requested, late.requested]).toEqual([
      ["ETH,ONE,TWO"],
      ["ETH,ONE,TWO"],
      ["TWO"],
      [],
    ]);
  });

  it("warns about a source that rejects or throws, and marks the prices as incomplete", async () => {
    const throwing: PriceSource = {
      name: "Throwing",
      read: () => {
        throw new Error("at once");
      },
    };
    expect(await collect([[broken, throwing, source("B", { native: 2n })]])).toEqual({
      texts: ["ETH 2 B", "ONE", "TWO"],
      incompletePrices: new Set(["native", one.contract, two.contract]),
      warnings: [
        "Prices from Broken are missing on Base: the source failed or timed out.",
        "Prices from Throwing are missing on Base: the source failed or timed out.",
      ],
    });
  });

  it("ignores negative and unrequested prices, and accepts zero", async () => {
    const odd = source("Odd", { native: -1n, [one.contract]: 0n, [three.contract]: 9n });
    expect((await collect([[odd], [source("B", { native: 2n })]])).texts).toEqual([
      "ETH 2 B",
      "ONE 0 Odd",
      "TWO",
    ]);
  });

  it("requests an asset once that is held and in a position", async () => {
    const a = source("A", {});
    await collect([[a]], [one, two, { ...one }]);
    expect(a.requested).toEqual(["ONE,TWO"]);
  });

  it("requests nothing without assets", async () => {
    const a = source("A", {});
    expect(await collect([[a]], [])).toEqual({ texts: [], incompletePrices: new Set(), warnings: [] });
    expect(a.requested).toEqual([]);
  });

  it.each([
    [
      "heeds",
      (stop: AbortSignal, reject: (reason: unknown) => void) =>
        stop.addEventListener("abort", () => reject(stop.reason)),
    ],
    ["ignores", () => {}],
  ])("warns about a source that hangs and %s its signal", async (_, onStart) => {
    const hanging: PriceSource = {
      name: "Hanging",
      read: (_query, stop) => new Promise((_resolve, reject) => onStart(stop, reject)),
    };
    const found = await collectPrices(
      [[hanging, source("B", { native: 2n })]],
      { at, assets: [ETHER_ASSET] },
      signal,
      20,
    );
    expect(found.prices.get("native")).toMatchObject({ usd: { units: 2n, scale: 0 }, source: "B" });
    expect(found.warnings).toEqual([
      "Prices from Hanging are missing on Base: the source failed or timed out.",
    ]);
  });

  it("rejects with the reason of the caller's signal instead of warning", async () => {
    const stop = new AbortController();
    const slow: PriceSource = {
      name: "Slow",
      read: async () => {
        stop.abort(new Error("gone"));
        throw new Error("aborted");
      },
    };
    await expect(collectPrices([[slow]], { at, assets: [one] }, stop.signal)).rejects.toThrow("gone");
  });
});

describe("prices of the provider of balances", () => {
  it("accepts prices of the provider for listed tokens and the native coin only", async () => {
    const chain = makeChainConfig("base", 8453, [one]);
    const pinned = await makeChainAccess(chain).pin(signal);
    const price = quotePrice({ units: 7n, scale: 0 });
    const vendor = createProviderPriceSource(
      "vendor",
      new Map<AssetKey, QuotedPrice>([
        ["native", price],
        [one.contract, price],
        [two.contract, price],
      ]),
    );
    const query = { at: pinned, assets: [ETHER_ASSET, one, two, three] };
    const { prices, incompletePrices } = await collectPrices([[vendor]], query, signal);
    expect([...prices.keys()]).toEqual(["native", one.contract]);
    // A price that is not believed is not a sign of spam.
    expect(incompletePrices).toEqual(new Set([two.contract]));
  });
});

describe("prices that are asked early", () => {
  const record = readChainRecord(
    new URL("../../../tests/fixtures/prices/handwritten/chainlink.json", import.meta.url),
  );
  const wallet = "0x00000000000000000000000000000000000a11ce";
  const usdc = { ...one, contract: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" } as const;

  it("prices asked early are the same when they are collected, with no round trip more", async () => {
    const chain = openRecordedChain(record);
    const at = { ...chain, results: new BlockResults(0).of(wallet) };
    const sources = [[createChainlinkSource()]];
    const expected = await collectPrices(sources, { at: openRecordedChain(record), assets: [usdc] }, signal);
    await prefetchPrices(sources, { at, assets: [usdc] }, signal);
    expect(chain.rounds).toHaveLength(1);
    expect(await collectPrices(sources, { at, assets: [usdc] }, signal)).toEqual(expected);
    expect([expected.prices.size, chain.rounds.length]).toEqual([1, 1]);
  });

  it("asks early neither a source that asks for the wallet, nor for a block that remembers nothing", async () => {
    const early = (source: PriceSource): PriceSource => ({ ...source, prefetch: source.read });
    const [ofBlock, ofWallet] = [source("A", {}), source("B", {})];
    await prefetchPrices([[early(ofBlock)], [ofWallet]], { at, assets: [one] }, signal);
    const remembering = { ...at, results: new BlockResults(0).of(wallet) };
    expect([ofBlock.requested, ofWallet.requested]).toEqual([[], []]);
    await prefetchPrices(
      [[early(ofBlock), early(broken)], [ofWallet]],
      { at: remembering, assets: [one] },
      signal,
    );
    expect([ofBlock.requested, ofWallet.requested]).toEqual([["ONE"], []]);
  });
});
