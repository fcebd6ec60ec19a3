// What every price source must do, whatever it asks: the same suite for all siblings.
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

/** recorded: all is well. stale: the same prices, too old to be believed. failing: whoever is asked does not answer. */
export type PriceScenario = "recorded" | "stale" | "failing";

export type OpenedSource = {
  readonly source: PriceSource;
  readonly at: PinnedChain;
  /** How often anybody outside was asked. */
  roundTrips(): number;
};

export type PriceSourceCase = {
  open(world: PriceScenario): Promise<OpenedSource>;
  /** A priced token, and its price in plain text. */
  readonly known: { readonly asset: Asset & { readonly contract: Hex }; readonly price: string };
  /** A price with more digits than a float keeps. */
  readonly exact: { readonly asset: Asset; readonly price: string };
  /** A token the source lists or is told zero of: its price is "0", or null where zero is how the source says unknown. */
  readonly zero: { readonly asset: Asset; readonly price: "0" | null };
  readonly roundTripsMax: number;
};

// More than any wallet shows at once; a source has to bound its work itself.
const MANY = 600;

export function describePriceSource(name: string, source: PriceSourceCase): void {
  const { known, exact, zero } = source;
  const ask = async (world: PriceScenario, assets: readonly Asset[]): Promise<PriceResult> => {
    const opened = await source.open(world);
    return opened.source.read({ at: opened.at, assets }, new AbortController().signal);
  };

  describe(`${name}, as a price source`, () => {
    it("answers with its own price", async () => {
      expect(priceTexts(await ask("recorded", [known.asset]))).toEqual({
        [known.asset.contract]: known.price,
      });
    });

    it("keeps every digit", async () => {
      expect(Number(exact.price).toString()).not.toBe(exact.price);
      expect(priceTexts(await ask("recorded", [exact.asset]))).toEqual({
        [getAssetKey(exact.asset)]: exact.price,
      });
    });

    it("leaves out what it does not know, and answers nothing that was not asked", async () => {
      const answer = await ask("recorded", [unknownAsset(1), known.asset, unknownAsset(2)]);
      expect([...answer.prices.keys()]).toEqual([known.asset.contract]);
      expect((await ask("recorded", [unknownAsset(3)])).prices.size).toBe(0);
    });

    it("tells a known zero from an unknown price", async () => {
      const price = priceTexts(await ask("recorded", [zero.asset]))[getAssetKey(zero.asset)] ?? null;
      expect(price).toBe(zero.price);
    });

    it("takes an address in any case and answers under the same", async () => {
      const contract = `0x${known.asset.contract.slice(2).toUpperCase()}` as Hex;
      const answer = await ask("recorded", [{ ...known.asset, contract }]);
      expect(priceTexts(answer)).toEqual({ [contract]: known.price });
    });

    it("does not believe what is too old", async () => {
      expect((await ask("stale", [known.asset])).prices.size).toBe(0);
    });

    it("rejects or warns when nobody answers, and makes no price up", async () => {
      const outcome = await ask("failing", [known.asset]).catch((error: unknown) => error);
      if (outcome instanceof Error) return;
      const { prices, warnings } = outcome as PriceResult;
      expect({ prices: prices.size, warnings: warnings.length }).toEqual({ prices: 0, warnings: 1 });
    });

    it("knows nothing of a chain it was not told of", async () => {
      const { source: opened, at } = await source.open("recorded");
      const elsewhere = { ...at, chain: { ...at.chain, chainId: 999_999 } };
      const question = { at: elsewhere, assets: [known.asset] };
      expect((await opened.read(question, new AbortController().signal)).prices.size).toBe(0);
    });

    it(`asks at most ${source.roundTripsMax} times, and not at all about nothing`, async () => {
      const opened = await source.open("recorded");
      const { signal } = new AbortController();
      await opened.source.read({ at: opened.at, assets: [] }, signal);
      expect(opened.roundTrips()).toBe(0);
      const many = Array.from({ length: MANY }, (_, i) => unknownAsset(i));
      const answer = await opened.source.read({ at: opened.at, assets: [known.asset, ...many] }, signal);
      expect(answer.prices.has(known.asset.contract)).toBe(true);
      expect(opened.roundTrips()).toBeLessThanOrEqual(source.roundTripsMax);
    });

    it("gives up when it is told to", async () => {
      const opened = await source.open("recorded");
      const reason = new Error("enough");
      const question = { at: opened.at, assets: [known.asset] };
      await expect(opened.source.read(question, AbortSignal.abort(reason))).rejects.toBe(reason);
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
export function priceTexts(answer: PriceResult): Record<string, string> {
  return Object.fromEntries([...answer.prices].map(([key, price]) => [key, formatDecimal(price)]));
}
