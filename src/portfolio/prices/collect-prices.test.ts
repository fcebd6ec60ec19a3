// Prices: groups in turn, the earlier source wins, a failing source is a warning, nonsense is no price.
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainAccess,
  makeChainConfig,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Decimal } from "../../lib/decimal.ts";
import { type Asset, type AssetKey, getAssetKey, type PriceSource } from "../types.ts";
import { collectPrices, type PriceSourceGroups } from "./collect-prices.ts";

const signal = new AbortController().signal;
const at = await makeChainAccess(makeChainConfig("base", 8453)).pin(signal);
const [one, two, three] = [makeListedToken(1, "ONE"), makeListedToken(2, "TWO"), makeListedToken(3, "THREE")];

type Source = PriceSource & { readonly asked: string[] };

function source(name: string, prices: Partial<Record<AssetKey, bigint>>, warnings: string[] = []): Source {
  const asked: string[] = [];
  return {
    name,
    asked,
    read: async ({ assets }) => {
      asked.push(assets.map(({ symbol }) => symbol).join());
      const entries = Object.entries(prices) as [AssetKey, bigint][];
      return {
        prices: new Map(entries.map(([key, units]): [AssetKey, Decimal] => [key, { units, scale: 0 }])),
        warnings,
      };
    },
  };
}

const broken: PriceSource = { name: "Broken", read: () => Promise.reject(new Error("secret")) };

async function gather(sources: PriceSourceGroups, assets: readonly Asset[] = [ETHER_ASSET, one, two]) {
  const { prices, ...rest } = await collectPrices(sources, { at, assets }, signal);
  const shown = assets.map((asset) => {
    const found = prices.get(getAssetKey(asset));
    return found ? `${asset.symbol} ${found.price.units} ${found.source}` : asset.symbol;
  });
  return { ...rest, shown };
}

describe("prices", () => {
  it("come from the first group that has one, and within it from the earlier source", async () => {
    const a = source("A", { native: 1n });
    const b = source("B", { native: 2n, [one.contract]: 3n });
    const c = source("C", { native: 4n, [one.contract]: 5n, [two.contract]: 6n }, ["C is old."]);
    const late = source("D", {});
    expect(await gather([[a, b], [c], [late]])).toEqual({
      shown: ["ETH 1 A", "ONE 3 B", "TWO 6 C"],
      pricesComplete: true,
      warnings: ["C is old."],
    });
    expect([a.asked, b.asked, c.asked, late.asked]).toEqual([["ETH,ONE,TWO"], ["ETH,ONE,TWO"], ["TWO"], []]);
  });

  it("survive a source that fails or throws at once, which is told and remembered", async () => {
    const throwing: PriceSource = {
      name: "Throwing",
      read: () => {
        throw new Error("at once");
      },
    };
    expect(await gather([[broken, throwing, source("B", { native: 2n })]])).toEqual({
      shown: ["ETH 2 B", "ONE", "TWO"],
      pricesComplete: false,
      warnings: [
        "Prices from Broken are missing on Base: it did not answer as it should.",
        "Prices from Throwing are missing on Base: it did not answer as it should.",
      ],
    });
  });

  it("below zero are none, at zero are known, and those not asked for are ignored", async () => {
    const odd = source("Odd", { native: -1n, [one.contract]: 0n, [three.contract]: 9n });
    expect((await gather([[odd], [source("B", { native: 2n })]])).shown).toEqual([
      "ETH 2 B",
      "ONE 0 Odd",
      "TWO",
    ]);
  });

  it("are asked once for an asset that is held and in a position", async () => {
    const a = source("A", {});
    await gather([[a]], [one, two, { ...one }]);
    expect(a.asked).toEqual(["ONE,TWO"]);
  });

  it("are not asked for when nothing is held", async () => {
    const a = source("A", {});
    expect(await gather([[a]], [])).toEqual({ shown: [], pricesComplete: true, warnings: [] });
    expect(a.asked).toEqual([]);
  });

  it("of a source that hangs are missing in time", async () => {
    const hanging: PriceSource = {
      name: "Hanging",
      read: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    };
    const found = await collectPrices(
      [[hanging, source("B", { native: 2n })]],
      { at, assets: [ETHER_ASSET] },
      signal,
      20,
    );
    expect(found.prices.get("native")).toEqual({ price: { units: 2n, scale: 0 }, source: "B" });
    expect(found.warnings).toEqual([
      "Prices from Hanging are missing on Base: it did not answer as it should.",
    ]);
  });

  it("end with the request, not with a warning", async () => {
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
