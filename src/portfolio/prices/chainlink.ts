// Prices by Chainlink: the dollar feed of exactly that asset, as long as the feed keeps its own promises.
import type { Decimal } from "../../kit/decimal.ts";
import type { Hex } from "../../kit/hex.ts";
import { type AssetKey, assetKey, type PriceSource } from "../ports.ts";
import { believedPrice, feedDecimals, latestRound, sequencerRuns, sequencerWarning } from "./aggregator.ts";
import type { ChainFeeds, Feed } from "./feeds/chain-feeds.ts";
import { CHAINLINK_FEEDS } from "./feeds/feeds.ts";

/** Other feeds can be handed in, by chain id: a local chain has its own. */
export function createChainlink(feeds: ReadonlyMap<number, ChainFeeds> = CHAINLINK_FEEDS): PriceSource {
  return {
    name: "chainlink",
    async read({ at, assets }, signal) {
      const known = feeds.get(at.chain.chainId);
      const asked = known === undefined ? [] : assets.flatMap((asset) => feedOf(known, assetKey(asset)));
      if (known === undefined || asked.length === 0) return { prices: new Map(), warnings: [] };

      const rounds = asked.map(({ feed }) => latestRound(feed.feed));
      const decimals = asked.map(({ feed }) => feedDecimals(feed.feed));
      const uptime = known.sequencer === null ? [] : [latestRound(known.sequencer)];
      const calls = [...rounds, ...decimals, ...uptime];
      const answers = await at.read(
        calls.map(({ read }) => read),
        signal,
      );

      const { timestamp } = at.block;
      if (uptime[0] && !sequencerRuns(uptime[0].decode(answers.at(-1)), timestamp)) {
        return { prices: new Map(), warnings: [sequencerWarning(at.chain.name, "Chainlink")] };
      }
      const prices = new Map<AssetKey, Decimal>();
      for (const [i, { key, feed }] of asked.entries()) {
        const round = rounds[i]?.decode(answers[i]) ?? null;
        const scale = decimals[i]?.decode(answers[rounds.length + i]) ?? null;
        const price = believedPrice(round, scale, feed, timestamp);
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
