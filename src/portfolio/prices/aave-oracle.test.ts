// Prices from the Aave oracle: one call for all, single calls as fallback, and only in dollars.
import { describe, expect, it } from "vitest";
import { aaveBase } from "../../../tests/fixtures/positions/aave-v3.ts";
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
import { createAaveOracleSource } from "./aave-oracle.ts";

const record = readChainRecord(
  new URL("../../../tests/fixtures/prices/handwritten/aave-oracle.json", import.meta.url),
);
const { signal } = new AbortController();
const USDBC = "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca";
const WSTETH = "0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452";
const EZETH = "0x2416092f143378750bb29b79ed961ab195cceea5";
const SEQUENCER_SINCE = 1_725_386_413;
const JUST_RESTARTED: ChainRecord = {
  ...record,
  block: { ...record.block, timestamp: SEQUENCER_SINCE + 600 },
};

describePriceSource("The Aave oracle", {
  open: async (scenario) => {
    const at = openRecordedChain(scenario === "stale" ? JUST_RESTARTED : record);
    const opened = scenario === "failing" ? openFailingChain(record) : at;
    return { source: createAaveOracleSource(), at: opened, roundTrips: () => at.rounds.length };
  },
  known: { asset: tokenAsset(WSTETH), price: "3882.11904517" },
  exact: { asset: tokenAsset("0x04c0599ae5a44757c0af6f9ec3b93da8976c150a"), price: "1234567890123.45678901" },
  zero: { asset: tokenAsset(EZETH), price: null },
  roundTripsMax: 1,
});

describe("the Aave oracle", () => {
  it("reads all listed assets in one call and then their sources, the native coin by its wrapped token", async () => {
    const at = openRecordedChain(record);
    const assets = [nativeAsset, tokenAsset(USDBC), tokenAsset(WSTETH)];
    const result = await createAaveOracleSource().read({ at, assets }, signal);
    expect(priceTexts(result)).toEqual({ [USDBC]: "0.99985213", [WSTETH]: "3882.11904517" });
    // The record has no list with the wrapped coin, nor sources: single prices follow.
    expect(at.rounds.map((calls) => calls.length)).toEqual([7, 3]);
  });

  it("reads assets one by one when the list reverts", async () => {
    const at = openRecordedChain(record);
    // The record has no result for this list, as if it reverted.
    const assets = [tokenAsset(EZETH), tokenAsset(USDBC)];
    const result = await createAaveOracleSource().read({ at, assets }, signal);
    expect(priceTexts(result)).toEqual({ [USDBC]: "0.99985213" });
    expect(at.rounds.map((calls) => calls.length)).toEqual([6, 2]);
  });

  it.each([
    ["BASE_CURRENCY() view returns (address)", "0x4200000000000000000000000000000000000006"],
    ["BASE_CURRENCY_UNIT() view returns (uint256)", "3"],
  ])("returns no price when %s is %s", async (name, result) => {
    const calls = record.calls.map((call) => (call.function === name ? { ...call, result } : call));
    const at = openRecordedChain({ ...record, calls });
    const read = await createAaveOracleSource().read({ at, assets: [tokenAsset(USDBC)] }, signal);
    expect(read.prices.size).toBe(0);
  });

  it("warns once that the sequencer restarted recently", async () => {
    const at = openRecordedChain(JUST_RESTARTED);
    const result = await createAaveOracleSource().read({ at, assets: [tokenAsset(USDBC)] }, signal);
    expect(result.warnings).toEqual([expect.stringContaining("sequencer of Base")]);
  });

  it("accepts other markets and feeds", async () => {
    const reserves = aaveBase.reserves.filter(({ underlying }) => underlying === WSTETH);
    const markets = new Map([[31_337, [{ ...aaveBase, reserves }]]]);
    const at = openRecordedChain({ ...record, chain: { ...record.chain, chainId: 31_337 } });
    const source = createAaveOracleSource({ markets, feeds: new Map() });
    const result = await source.read({ at, assets: [tokenAsset(USDBC), tokenAsset(WSTETH)] }, signal);
    expect(priceTexts(result)).toEqual({ [WSTETH]: "3882.11904517" });
  });
});
