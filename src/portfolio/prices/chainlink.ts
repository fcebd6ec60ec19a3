// Prices by Chainlink: the dollar feed of exactly that asset, as long as the feed keeps its own promises.

import type { ChainFeeds, Feed } from "../../chain/price-feeds/price-feed.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { readTogether } from "../multicall.ts";
import { readDecimals } from "../tokens/metadata.ts";
import { type AssetKey, assetKey, type PriceSource } from "../types.ts";
import * as aggregator from "./chainlink-aggregator.ts";

/** Other feeds can be handed in, by chain id: a local chain has its own. */
export function createChainlink(feeds: ReadonlyMap<number, ChainFeeds> = CHAINLINK_FEEDS): PriceSource {
  return {
    name: "chainlink",
    async read({ at, assets }, signal) {
      const known = feeds.get(at.chain.chainId);
      const asked = known === undefined ? [] : assets.flatMap((asset) => feedOf(known, assetKey(asset)));
      if (known === undefined || asked.length === 0) return { prices: new Map(), warnings: [] };

      const addresses = asked.map(({ feed }) => feed.feed);
      const calls = [
        ...addresses.map((feed) => aggregator.latestRoundData(feed)),
        ...addresses.map((feed) => aggregator.decimals(feed)),
        ...(known.sequencer === null ? [] : [aggregator.latestRoundData(known.sequencer)]),
      ];
      const answers = await readTogether(at, calls, signal);

      const { timestamp } = at.block;
      const uptime = aggregator.roundOf(answers.at(-1));
      if (known.sequencer !== null && !aggregator.sequencerRuns(uptime, timestamp)) {
        return { prices: new Map(), warnings: [aggregator.sequencerWarning(at.chain.name, "Chainlink")] };
      }
      const prices = new Map<AssetKey, Decimal>();
      for (const [i, { key, feed }] of asked.entries()) {
        const round = aggregator.roundOf(answers[i]);
        const scale = readDecimals(answers[asked.length + i]);
        const price = aggregator.believedPrice(round, scale, feed, timestamp);
        if (price !== null) prices.set(key, price);
      }
      return { prices, warnings: [] };
    },
  };
}

function feedOf(feeds: ChainFeeds, key: AssetKey): { key: AssetKey; feed: Feed }[] {
  const feed = key === "native" ? feeds.native : feeds.tokens[key.toLowerCase() as Hex];
  return feed ? [{ key, feed }] : [];
}
