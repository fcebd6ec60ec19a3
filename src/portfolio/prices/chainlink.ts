// Prices by Chainlink: the dollar feed of exactly that asset, as long as the feed keeps its own promises.

import type { ChainlinkFeed, ChainPriceFeeds } from "../../chain/price-feeds/price-feed.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { readByMulticall } from "../multicall.ts";
import { decodeTokenDecimals } from "../tokens/metadata.ts";
import { type AssetKey, getAssetKey, type PriceSource } from "../types.ts";
import * as aggregator from "./chainlink-aggregator.ts";

/** Other feeds can be handed in, by chain id: a local chain has its own. */
export function createChainlinkSource(
  feeds: ReadonlyMap<number, ChainPriceFeeds> = CHAINLINK_FEEDS,
): PriceSource {
  return {
    name: "chainlink",
    async read({ at, assets }, signal) {
      const known = feeds.get(at.chain.chainId);
      const asked = known === undefined ? [] : assets.flatMap((asset) => feedOf(known, getAssetKey(asset)));
      if (known === undefined || asked.length === 0) return { prices: new Map(), warnings: [] };

      const addresses = asked.map(({ feed }) => feed.feed);
      const calls = [
        ...addresses.map((feed) => aggregator.latestRoundData(feed)),
        ...addresses.map((feed) => aggregator.decimals(feed)),
        ...(known.sequencer === null ? [] : [aggregator.latestRoundData(known.sequencer)]),
      ];
      const answers = await readByMulticall(at, calls, signal);

      const { timestamp } = at.block;
      const uptime = aggregator.decodeRound(answers.at(-1));
      if (known.sequencer !== null && !aggregator.isSequencerUp(uptime, timestamp)) {
        return {
          prices: new Map(),
          warnings: [aggregator.describeSequencerOutage(at.chain.name, "Chainlink")],
        };
      }
      const prices = new Map<AssetKey, Decimal>();
      for (const [i, { key, feed }] of asked.entries()) {
        const round = aggregator.decodeRound(answers[i]);
        const scale = decodeTokenDecimals(answers[asked.length + i]);
        const price = aggregator.validatePrice(round, scale, feed, timestamp);
        if (price !== null) prices.set(key, price);
      }
      return { prices, warnings: [] };
    },
  };
}

function feedOf(feeds: ChainPriceFeeds, key: AssetKey): { key: AssetKey; feed: ChainlinkFeed }[] {
  const feed = key === "native" ? feeds.native : feeds.tokens[key.toLowerCase() as Hex];
  return feed ? [{ key, feed }] : [];
}
