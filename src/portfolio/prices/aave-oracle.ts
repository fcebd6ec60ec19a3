// Prices from the oracle of a chain's main Aave market, only for the assets that the market lists and with a source of known age.

import { CHAINLINK_FEEDS, type ChainPriceFeeds } from "../../chain/price-feeds/price-feeds.ts";
import { decodeAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, joinEach, toWordArray } from "../contract-reads/reads.ts";
import type { AaveMarket } from "../positions/aave-v3/markets.ts";
import { AAVE_V3_MARKETS } from "../positions/aave-v3/markets.ts";
import { aaveOracle, declareDollarScale } from "../positions/aave-v3/oracle.ts";
import {
  type Asset,
  type AssetKey,
  getAssetKey,
  type PinnedChain,
  type PriceResult,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import {
  type AggregatorRound,
  aggregator,
  describeSequencerOutage,
  isRoundCurrent,
  isSequencerUp,
  listFeeds,
} from "./chainlink.ts";

// Beyond what any market lists.
const RESERVES_MAX = 1_000;
const getAssetsPrices = defineRead("function getAssetsPrices(address[])", toWordArray(RESERVES_MAX));

// Aave's adapters cap a price or multiply it by a rate. They have no rounds, but name the Chainlink feed beneath them.
const assetToUsd = defineRead("function ASSET_TO_USD_AGGREGATOR()", decodeAddress);
const baseToUsd = defineRead("function BASE_TO_USD_AGGREGATOR()", decodeAddress);

// The longest heartbeat that a dollar feed of Chainlink has.
const SOURCE_AGE_SECONDS_MAX = 86_400;

type AaveOracleOptions = {
  /** Oracles by chain id; only the first market of a chain is used. */
  readonly markets?: ReadonlyMap<number, readonly AaveMarket[]> | undefined;
  /** For their heartbeats and sequencers: the oracle itself looks at no time. */
  readonly feeds?: ReadonlyMap<number, ChainPriceFeeds> | undefined;
};

/** An asset, and the reserve by whose price it is valued: the native coin by its wrapped token. */
type ListedAsset = { readonly key: AssetKey; readonly reserve: Hex };

type Market = { readonly oracle: Hex; readonly feeds: ChainPriceFeeds };

const NO_FEEDS: ChainPriceFeeds = { native: null, sequencer: null, tokens: {} };

export function createAaveOracleSource(options: AaveOracleOptions = {}): PriceSource {
  const { markets = AAVE_V3_MARKETS, feeds: allFeeds = CHAINLINK_FEEDS } = options;
  const findListed = (chainId: number, assets: readonly Asset[]): readonly ListedAsset[] => {
    const wrappedNative = allFeeds.get(chainId)?.wrappedNative;
    const reserves = new Set(markets.get(chainId)?.[0]?.reserves.map(({ underlying }) => underlying));
    return assets.flatMap((asset): ListedAsset[] => {
      const reserve = asset.contract === null ? wrappedNative : (asset.contract.toLowerCase() as Hex);
      return reserve !== undefined && reserves.has(reserve) ? [{ key: getAssetKey(asset), reserve }] : [];
    });
  };
  return {
    name: "aave-oracle",
    lists: (chainId, asset) => findListed(chainId, [asset]).length > 0,
    prefetch(query, signal) {
      return this.read(query, signal);
    },
    async read({ at, assets }, signal) {
      const { chainId } = at.chain;
      const market = markets.get(chainId)?.[0];
      const listed = findListed(chainId, assets);
      if (market === undefined || listed.length === 0) return { prices: new Map(), warnings: [] };
      const feeds = allFeeds.get(chainId) ?? NO_FEEDS;
      return readMarket(at, { oracle: market.oracle, feeds }, listed, signal);
    },
  };
}

async function readMarket(
  at: PinnedChain,
  { oracle, feeds }: Market,
  listed: readonly ListedAsset[],
  signal: AbortSignal,
): Promise<PriceResult> {
  const reserves = [...new Set(listed.map(({ reserve }) => reserve))];
  const { sequencer } = feeds;
  const read = await readGroups(at, signal, {
    scale: declareDollarScale(oracle),
    units: getAssetsPrices(oracle, [reserves]),
    sources: joinEach(reserves, (reserve) => aaveOracle.getSourceOfAsset(oracle, [reserve])),
    sequencer: sequencer && aggregator.latestRoundData(sequencer),
  });
  if (sequencer !== null && !isSequencerUp(read.sequencer, at.block.timestamp)) {
    return { prices: new Map(), warnings: [describeSequencerOutage(at.chain.name, "the Aave oracle")] };
  }
  const { scale } = read;
  if (scale === null) return { prices: new Map(), warnings: [] };

  const sources = new Map(read.sources);
  const [units, rounds] = await Promise.all([
    // A single reverting price source fails the whole list, so fall back to one call per asset.
    read.units?.length === reserves.length
      ? new Map(reserves.map((reserve, index) => [reserve, read.units?.[index]]))
      : readEach(at, signal, reserves, (reserve) => aaveOracle.getAssetPrice(oracle, [reserve])).then(
          (one) => new Map(one),
        ),
    readRounds(
      at,
      [...new Set(sources.values())].filter((source) => source !== null),
      signal,
    ),
  ]);
  const prices = new Map<AssetKey, QuotedPrice>();
  for (const { key, reserve } of listed) {
    const price = units.get(reserve);
    const source = sources.get(reserve) ?? null;
    const age = judgeAge(feeds, reserve, source === null ? [] : (rounds.get(source) ?? []), at);
    // The oracle returns zero for an asset that it cannot price.
    if (!price || age === "stale") continue;
    const known = { contract: oracle, timestamp: age.timestamp, provesToken: true };
    prices.set(key, quotePrice({ units: price, scale }, known));
  }
  return { prices, warnings: [] };
}

/** The rounds behind each source, as feeds in the order of dependence; empty for a source that shows none. */
type SourceRounds = ReadonlyMap<Hex, readonly { readonly feed: Hex; readonly round: AggregatorRound }[]>;

/** Two round trips: the sources' own rounds and base feeds, then the rounds of those. */
async function readRounds(
  at: PinnedChain,
  sources: readonly Hex[],
  signal: AbortSignal,
): Promise<SourceRounds> {
  const read = await readEach(at, signal, sources, (source) => ({
    own: aggregator.latestRoundData(source),
    bases: [assetToUsd(source), baseToUsd(source)],
  }));
  const bases = read.flatMap(([, own]) => own.bases.filter((feed) => feed !== null));
  const baseRounds = new Map(
    await readEach(at, signal, [...new Set(bases)], (feed) => aggregator.latestRoundData(feed)),
  );
  const describe = (feed: Hex, round: AggregatorRound | null | undefined) => (round ? [{ feed, round }] : []);
  return new Map(
    read.map(([source, own]) => [
      source,
      [
        ...describe(source, own.own),
        ...own.bases.flatMap((feed) => (feed === null ? [] : describe(feed, baseRounds.get(feed)))),
      ],
    ]),
  );
}

/**
 * A price for which our own feed would be rejected must not come back through Aave: if we have a feed, Aave's source must
 * show a round within that feed's heartbeat. Elsewhere a source without rounds is accepted, its age unknown.
 */
function judgeAge(
  feeds: ChainPriceFeeds,
  reserve: Hex,
  rounds: readonly { readonly feed: Hex; readonly round: AggregatorRound }[],
  at: PinnedChain,
): "stale" | { readonly timestamp: number | null } {
  const ownFeeds = listFeeds(feeds, reserve);
  if (rounds.length === 0) return ownFeeds.length > 0 ? "stale" : { timestamp: null };
  const known = [feeds.native, ...Object.values(feeds.tokens)];
  const isCurrent = rounds.every(({ feed, round }) => {
    const pinned = known.find((each) => each?.feed === feed) ?? ownFeeds[0];
    return isRoundCurrent(round, pinned?.heartbeatSeconds ?? SOURCE_AGE_SECONDS_MAX, at.block.timestamp);
  });
  if (!isCurrent) return "stale";
  return { timestamp: Math.min(...rounds.map(({ round }) => Number(round.updatedAt))) };
}
