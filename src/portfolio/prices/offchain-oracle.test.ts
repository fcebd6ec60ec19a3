// Spot prices: exact for any decimals, and only with deep enough pools.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ChainRecord,
  openFailingChain,
  openRecordedChain,
  readChainRecord,
} from "../../../tests/support/chain/recorded-chain.ts";
import {
  describePriceSource,
  nativeAsset,
  priceTexts,
  tokenAsset,
} from "../../../tests/support/portfolio/price-source-suite.ts";
import { formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PriceSource } from "../types.ts";
import { createChainlinkSource } from "./chainlink.ts";
import { createOffchainOracleSource } from "./offchain-oracle.ts";

const record = readChainRecord(new URL("./handwritten/offchain-oracle.json", import.meta.url));
const { signal } = new AbortController();
const DAYS_LATER = { ...record, block: { ...record.block, timestamp: record.block.timestamp + 200_000 } };
const address = (four: string): Hex => `0x${four.repeat(10)}`;
const [TWO_POOLS, SIX_DECIMALS, THIN, NO_POOL, RATE_ZERO, FEW_DIGITS] = [
  "1001",
  "1002",
  "1003",
  "1004",
  "1005",
  "1006",
].map(address) as [Hex, Hex, Hex, Hex, Hex, Hex];

const source = () => createOffchainOracleSource({ nativePrice: createChainlinkSource() });

describePriceSource("The spot oracle", {
  open: async (scenario) => {
    const at = openRecordedChain(scenario === "stale" ? DAYS_LATER : record);
    const opened = scenario === "failing" ? openFailingChain(record) : at;
    return { source: source(), at: opened, roundTrips: () => at.rounds.length };
  },
  // 0.000025 of a coin at 3182.45713042 dollars.
  known: { asset: tokenAsset(TWO_POOLS), price: "0.0795614282605" },
  // 312345678901234567890123456 wei per 10^18 of 10^-6: 0.000312345678901234567890123456 of a coin.
  exact: { asset: tokenAsset(SIX_DECIMALS, 6), price: "0.99402673297510970152291096764129313152" },
  zero: { asset: tokenAsset(RATE_ZERO), price: null },
  roundTripsMax: 3,
});

describe("the spot oracle", () => {
  it("returns no price when the deepest pool disagrees", async () => {
    const at = openRecordedChain(record);
    const result = await source().read({ at, assets: [tokenAsset(address("1007"))] }, signal);
    expect(result.prices.size).toBe(0);
  });

  it("reads a pool with the token on either side", async () => {
    const at = openRecordedChain(record);
    const result = await source().read({ at, assets: [tokenAsset(address("f008"))] }, signal);
    expect(priceTexts(result)).toEqual({ [address("f008")]: "31.8245713042" });
  });

  it("returns no price when the pool returns no state", async () => {
    const calls = record.calls.filter((call) => !call.function.startsWith("slot0"));
    const at = openRecordedChain({ ...record, calls });
    const result = await source().read({ at, assets: [tokenAsset(TWO_POOLS)] }, signal);
    expect(result.prices.size).toBe(0);
  });

  it("returns no price for shallow pools, without pools, and for rates that are only rounding", async () => {
    const assets = [THIN, NO_POOL, RATE_ZERO, FEW_DIGITS].map((token) => tokenAsset(token));
    const result = await source().read({ at: openRecordedChain(record), assets }, signal);
    expect(result).toEqual({ prices: new Map(), unasked: new Set(), warnings: [] });
  });

  it("sums the depth of all pools", async () => {
    const without = (pool: string): ChainRecord => ({
      ...record,
      calls: record.calls.filter(({ args }) => args[0] !== address(pool)),
    });
    const countPrices = async (of: ChainRecord) =>
      (await source().read({ at: openRecordedChain(of), assets: [tokenAsset(TWO_POOLS)] }, signal)).prices
        .size;
    expect([
      await countPrices(record),
      await countPrices(without("2001")),
      await countPrices(without("2002")),
    ]).toEqual([1, 0, 0]);
  });

  it("returns no price without decimals, without a native price, and for the native coin itself", async () => {
    const at = openRecordedChain(record);
    const unknown = { ...tokenAsset(TWO_POOLS), decimals: null };
    expect((await source().read({ at, assets: [unknown, nativeAsset] }, signal)).prices.size).toBe(0);
    const nothing: PriceSource = { name: "none", read: async () => ({ prices: new Map(), warnings: [] }) };
    const withoutNative = createOffchainOracleSource({ nativePrice: nothing });
    expect((await withoutNative.read({ at, assets: [tokenAsset(TWO_POOLS)] }, signal)).prices.size).toBe(0);
  });

  it("reads at most twenty tokens, with a warning, and limits the gas of every rate", async () => {
    const at = openRecordedChain(record);
    const assets = Array.from({ length: 21 }, (_, i) => tokenAsset(address(`30${i + 10}`)));
    const result = await source().read({ at, assets }, signal);
    expect(result.warnings).toEqual(["Only 20 of 21 tokens got a spot price lookup on Base."]);
    const rates = at.rounds.flat().filter(({ gasMax }) => gasMax !== undefined);
    expect(rates).toHaveLength(20);
  });

  it("is exact for any decimals", async () => {
    await fc.assert(
      fc.asyncProperty(
        // The rate equals that of the pools, so that only the arithmetic matters.
        fc.bigInt({ min: 2n ** 72n, max: 2n ** 159n }),
        fc.integer({ min: 0, max: 77 }),
        async (root, decimals) => {
          const rate = (root * root * 10n ** 18n) / 2n ** 192n;
          const calls = record.calls.map((call) => {
            if (call.args[0] === TWO_POOLS && call.function.startsWith("getRate")) {
              return { ...call, result: rate.toString() };
            }
            if (!call.function.startsWith("slot0")) return call;
            return { ...call, result: [root.toString(), ...(call.result as unknown[]).slice(1)] };
          });
          const at = openRecordedChain({ ...record, calls });
          const asset = tokenAsset(TWO_POOLS, decimals);
          const { prices } = await source().read({ at, assets: [asset] }, signal);
          // rate / 10^36 * 10^decimals * 3182.45713042, as one fraction over 10^44.
          const scaled = (rate * 318_245_713_042n * 10n ** BigInt(decimals)).toString().padStart(45, "0");
          const expected = parseDecimal(`${scaled.slice(0, -44)}.${scaled.slice(-44)}`, "the price");
          expect(priceTexts({ prices, warnings: [] })[TWO_POOLS]).toBe(formatDecimal(expected));
        },
      ),
      { numRuns: 50 },
    );
  });
});
