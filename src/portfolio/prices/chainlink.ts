// Prices from Chainlink: the dollar feed of exactly that asset, as long as the feed keeps its heartbeat.

import type { ChainlinkFeed, ChainPriceFeeds } from "../../chain/price-feeds/price-feed.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { readByMulticall } from "../multicall.ts";
import { decodeTokenDecimals } from "../tokens/erc20.ts";
import { type AssetKey, getAssetKey, type PriceSource } from "../types.ts";
import {
  aggregator,
  decodeRound,
  describeSequencerOutage,
  isSequencerUp,
  validatePrice,
} from "./chainlink-aggregator.ts";

/** `feeds` by chain id replace the built-in ones, as a local chain needs it. */
export function createChainlinkSource(
  feeds: ReadonlyMap<number, ChainPriceFeeds> = CHAINLINK_FEEDS,
): PriceSource {
  return {
    name: "chainlink",
    async read({ at, assets }, signal) {
      const chainFeeds = feeds.get(at.chain.chainId);
      if (chainFeeds === undefined) return { prices: new Map(), warnings: [] };
      const known = assets.flatMap((asset) => findFeed(chainFeeds, getAssetKey(asset)));
      if (known.length === 0) return { prices: new Map(), warnings: [] };

      const { sequencer } = chainFeeds;
      const calls = [
        ...known.map(({ feed }) => aggregator.latestRoundData(feed.feed)),
        ...known.map(({ feed }) => aggregator.decimals(feed.feed)),
        ...(sequencer === null ? [] : [aggregator.latestRoundData(sequencer)]),
      ];
      const results = await readByMulticall(at, calls, signal);

      const { timestamp } = at.block;
      if (sequencer !== null && !isSequencerUp(decodeRound(results.at(-1)), timestamp)) {
        return { prices: new Map(), warnings: [describeSequencerOutage(at.chain.name, "Chainlink")] };
      }
      const prices = new Map<AssetKey, Decimal>();
      for (const [i, { key, feed }] of known.entries()) {
        const scale = decodeTokenDecimals(results[known.length + i]);
        const price = validatePrice(decodeRound(results[i]), scale, feed, timestamp);
        if (price !== null) prices.set(key, price);
      }
      return { prices, warnings: [] };
    },
  };
}

function findFeed(feeds: ChainPriceFeeds, key: AssetKey): { key: AssetKey; feed: ChainlinkFeed }[] {
  const feed = key === "native" ? feeds.native : feeds.tokens[key.toLowerCase() as Hex];
  return feed ? [{ key, feed }] : [];
}
