// Prices from the oracle of a chain's main Aave market, only for the assets that the market lists.

import type { ChainPriceFeeds } from "../../chain/price-feeds/price-feed.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import { decodeWord, decodeWordArray } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../multicall.ts";
import type { AaveMarket } from "../positions/aave-v3/market.ts";
import { AAVE_V3_MARKETS } from "../positions/aave-v3/markets.ts";
import {
  type AssetKey,
  type PinnedChain,
  type PriceResult,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { aggregator, decodeRound, describeSequencerOutage, isSequencerUp } from "./chainlink.ts";

const getAssetsPrices = createCallEncoder("function getAssetsPrices(address[]) view returns (uint256[])");
const getAssetPrice = createCallEncoder("function getAssetPrice(address) view returns (uint256)");
const baseCurrency = createCallEncoder("function BASE_CURRENCY() view returns (address)");
const baseCurrencyUnit = createCallEncoder("function BASE_CURRENCY_UNIT() view returns (uint256)");

// Aave represents the dollar by the zero address; an oracle with another base currency does not return dollars.
const US_DOLLAR = 0n;

type AaveOracleOptions = {
  /** By chain id; only the first market of a chain is used. */
  readonly markets?: ReadonlyMap<number, readonly AaveMarket[]>;
  /** Only for their sequencer feeds, which the oracle itself does not check. */
  readonly feeds?: ReadonlyMap<number, ChainPriceFeeds>;
};

export function createAaveOracleSource(options: AaveOracleOptions = {}): PriceSource {
  const { markets = AAVE_V3_MARKETS, feeds = CHAINLINK_FEEDS } = options;
  return {
    name: "aave-oracle",
    async read({ at, assets }, signal) {
      const market = markets.get(at.chain.chainId)?.[0];
      const listed = new Set(market?.reserves.map(({ underlying }) => underlying));
      const keys = assets.flatMap(({ contract }) =>
        contract !== null && listed.has(lowerCase(contract)) ? [contract] : [],
      );
      if (market === undefined || keys.length === 0) return { prices: new Map(), warnings: [] };
      const sequencer = feeds.get(at.chain.chainId)?.sequencer ?? null;
      return readMarket(at, market.oracle, keys, sequencer, signal);
    },
  };
}

async function readMarket(
  at: PinnedChain,
  oracle: Hex,
  keys: readonly Hex[],
  sequencer: Hex | null,
  signal: AbortSignal,
): Promise<PriceResult> {
  const calls = [
    baseCurrency(oracle),
    baseCurrencyUnit(oracle),
    getAssetsPrices(oracle, [keys.map(lowerCase)]),
    ...(sequencer === null ? [] : [aggregator.latestRoundData(sequencer)]),
  ];
  const [base, unit, list, uptime] = await readByMulticall(at, calls, signal);

  if (sequencer !== null && !isSequencerUp(decodeRound(uptime), at.block.timestamp)) {
    return { prices: new Map(), warnings: [describeSequencerOutage(at.chain.name, "the Aave oracle")] };
  }
  const scale = decodeUnitDecimals(decodeWord(unit));
  if (decodeWord(base) !== US_DOLLAR || scale === null) return { prices: new Map(), warnings: [] };

  const listPrices = decodeWordArray(list, keys.length);
  const units =
    listPrices?.length === keys.length ? listPrices : await readOneByOne(at, oracle, keys, signal);
  const prices = new Map<AssetKey, QuotedPrice>();
  for (const [i, key] of keys.entries()) {
    const price = units[i];
    // The oracle returns zero for an asset that it cannot price.
    if (price) prices.set(key, quotePrice({ units: price, scale }, { contract: oracle, provesToken: true }));
  }
  return { prices, warnings: [] };
}

// A single reverting price source fails the whole list, so fall back to one call per asset.
async function readOneByOne(
  at: PinnedChain,
  oracle: Hex,
  keys: readonly Hex[],
  signal: AbortSignal,
): Promise<readonly (bigint | null)[]> {
  const calls = keys.map((key) => getAssetPrice(oracle, [lowerCase(key)]));
  return (await readByMulticall(at, calls, signal)).map(decodeWord);
}

function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}

/** The exponent of a power of ten; null for any other number, because prices would not be decimal. */
function decodeUnitDecimals(unit: bigint | null): number | null {
  const digits = unit === null ? "" : unit.toString();
  return /^10*$/.test(digits) ? digits.length - 1 : null;
}
