// The suite that every price source passes.
import { describe, expect, it } from "vitest";
import { formatDecimal } from "../../../src/lib/decimal.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import {
  type Asset,
  getAssetKey,
  type PinnedChain,
  type PriceResult,
  type PriceSource,
} from "../../../src/portfolio/types.ts";

/** valid: fresh prices. stale: the same prices, too old. failing: no node or vendor responds. */
type PriceScenario = "valid" | "stale" | "failing";

type OpenedSource = {
  readonly source: PriceSource;
  readonly at: PinnedChain;
  /** Requests to nodes and vendors so far. */
  roundTrips(): number;
};

type PriceSourceCase = {
  open(scenario: PriceScenario): Promise<OpenedSource>;
  /** A priced token, and its price in plain text. */
  readonly known: { readonly asset: Asset & { readonly contract: Hex }; readonly price: string };
  /** A price with more digits than a float keeps. */
  readonly exact: { readonly asset: Asset; readonly price: string };
  /** A token with a price of zero: "0", or null for a source that uses zero for unknown. */
  readonly zero: { readonly asset: Asset; readonly price: "0" | null };
  readonly roundTripsMax: number;
};

// More than any wallet shows at once; a source has to limit its work itself.
const MANY = 600;

export function describePriceSource(name: string, source: PriceSourceCase): void {
  const { known, exact, zero } = source;
  const read = async (scenario: PriceScenario, assets: readonly Asset[]): Promise<PriceResult> => {
    const opened = await source.open(scenario);
    return opened.source.read({ at: opened.at, assets }, new AbortController().signal);
  };

  describe(`${name}, as a price source`, () => {
    it("returns its own price", async () => {
      expect(priceTexts(await read("valid", [known.asset]))).toEqual({
        [known.asset.contract]: known.price,
      });
    });

    it("keeps every digit", async () => {
      expect(Number(exact.price).toString()).not.toBe(exact.price);
      expect(priceTexts(await read("valid", [exact.asset]))).toEqual({
        [getAssetKey(exact.asset)]: exact.price,
      });
    });

    it("omits unknown assets and returns only requested ones", async () => {
      const result = await read("valid", [unknownAsset(1), known.asset, unknownAsset(2)]);
      expect([...result.prices.keys()]).toEqual([known.asset.contract]);
      expect((await read("valid", [unknownAsset(3)])).prices.size).toBe(0);
    });

    it("distinguishes a known zero from an unknown price", async () => {
      const price = priceTexts(await read("valid", [zero.asset]))[getAssetKey(zero.asset)] ?? null;
      expect(price).toBe(zero.price);
    });

    it("accepts an address in any case and returns the price under the same text", async () => {
      const contract = `0x${known.asset.contract.slice(2).toUpperCase()}` as Hex;
      const result = await read("valid", [{ ...known.asset, contract }]);
      expect(priceTexts(result)).toEqual({ [contract]: known.price });
    });

    it("rejects stale prices", async () => {
      expect((await read("stale", [known.asset])).prices.size).toBe(0);
    });

    it("rejects or warns when the source fails, without inventing a price", async () => {
      const outcome = await read("failing", [known.asset]).catch((error: unknown) => error);
      if (outcome instanceof Error) return;
      const { prices, warnings } = outcome as PriceResult;
      expect({ prices: prices.size, warnings: warnings.length }).toEqual({ prices: 0, warnings: 1 });
    });

    it("returns no price on an unknown chain", async () => {
      const { source: opened, at } = await source.open("valid");
      const elsewhere = { ...at, chain: { ...at.chain, chainId: 999_999 } };
      const query = { at: elsewhere, assets: [known.asset] };
      expect((await opened.read(query, new AbortController().signal)).prices.size).toBe(0);
    });

    it(`sends at most ${source.roundTripsMax} requests, and none without assets`, async () => {
      const opened = await source.open("valid");
      const { signal } = new AbortController();
      await opened.source.read({ at: opened.at, assets: [] }, signal);
      expect(opened.roundTrips()).toBe(0);
      const many = Array.from({ length: MANY }, (_, i) => unknownAsset(i));
      const result = await opened.source.read({ at: opened.at, assets: [known.asset, ...many] }, signal);
      expect(result.prices.has(known.asset.contract)).toBe(true);
      expect(opened.roundTrips()).toBeLessThanOrEqual(source.roundTripsMax);
    });

    it("rejects with the reason of an aborted signal", async () => {
      const opened = await source.open("valid");
      const reason = new Error("enough");
      const query = { at: opened.at, assets: [known.asset] };
      await expect(opened.source.read(query, AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}

export function tokenAsset(contract: Hex, decimals = 18): Asset & { readonly contract: Hex } {
  return { contract, symbol: "T", name: "Token", decimals, logo: null };
}

export const nativeAsset: Asset = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };

function unknownAsset(index: number): Asset {
  return tokenAsset(`0xdead${index.toString(16).padStart(36, "0")}`);
}

/** Prices as plain text under their keys. */
export function priceTexts(result: PriceResult): Record<string, string> {
  return Object.fromEntries([...result.prices].map(([key, price]) => [key, formatDecimal(price.usd)]));
}
