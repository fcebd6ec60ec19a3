// Prices from Chainlink: the dollar feed of exactly that asset, as long as the feed keeps its heartbeat.
import {
  CHAINLINK_FEEDS,
  type ChainlinkFeed,
  type ChainPriceFeeds,
} from "../../chain/price-feeds/price-feeds.ts";
import { decodeWords } from "../../lib/abi/return-data.ts";
import { type Decimal, SCALE_MAX } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { defineRead } from "../contract-reads/reads.ts";
import { decodeTokenDecimals } from "../tokens/erc20.ts";
import { type AssetKey, getAssetKey, type PriceSource, type QuotedPrice, quotePrice } from "../types.ts";

/** `feeds` by chain id replace the built-in ones, as a local chain needs it. */
export function createChainlinkSource(
  feeds: ReadonlyMap<number, ChainPriceFeeds> = CHAINLINK_FEEDS,
): PriceSource {
  return {
    name: "chainlink",
    lists(chainId, asset) {
      const chainFeeds = feeds.get(chainId);
      return chainFeeds !== undefined && listFeeds(chainFeeds, getAssetKey(asset)).length > 0;
    },
    prefetch(query, signal) {
      return this.read(query, signal);
    },
    async read({ at, assets }, signal) {
      const chainFeeds = feeds.get(at.chain.chainId);
      if (chainFeeds === undefined) return { prices: new Map(), warnings: [] };
      const feedsOfAssets = assets.map((asset) => ({
        key: getAssetKey(asset),
        feeds: listFeeds(chainFeeds, getAssetKey(asset)),
      }));
      const addresses = [...new Set(feedsOfAssets.flatMap((asset) => asset.feeds.map(({ feed }) => feed)))];
      if (addresses.length === 0) return { prices: new Map(), warnings: [] };

      const { sequencer } = chainFeeds;
      const read = await readGroups(at, signal, {
        feeds: addresses.map((feed) => ({
          round: aggregator.latestRoundData(feed),
          scale: aggregator.decimals(feed),
        })),
        sequencer: sequencer && aggregator.latestRoundData(sequencer),
      });
      const { timestamp } = at.block;
      if (sequencer !== null && !isSequencerUp(read.sequencer, timestamp)) {
        return { prices: new Map(), warnings: [describeSequencerOutage(at.chain.name, "Chainlink")] };
      }
      const priceOf = (feed: ChainlinkFeed): QuotedPrice | null => {
        const { round = null, scale = null } = read.feeds[addresses.indexOf(feed.feed)] ?? {};
        const usd = validatePrice(round, scale, feed, timestamp);
        if (round === null || usd === null) return null;
        return quotePrice(usd, {
          contract: feed.feed,
          timestamp: Number(round.updatedAt),
          provesToken: true,
        });
      };
      const prices = new Map<AssetKey, QuotedPrice>();
      for (const { key, feeds: candidates } of feedsOfAssets) {
        const price = candidates.map(priceOf).find((found) => found !== null);
        if (price) prices.set(key, price);
      }
      return { prices, warnings: [] };
    },
  };
}

/** The feeds of an asset, the best first. The native coin and its wrapped token share theirs: they are worth the same. */
export function listFeeds(feeds: ChainPriceFeeds, key: AssetKey): readonly ChainlinkFeed[] {
  const { native, tokens, wrappedNative } = feeds;
  const token = key === "native" ? null : (key.toLowerCase() as Hex);
  const wrapped = wrappedNative === undefined ? undefined : tokens[wrappedNative];
  const shared = token === null ? [native, wrapped] : token === wrappedNative ? [wrapped, native] : [];
  const own = token === null ? native : tokens[token];
  const found = [own, ...shared].flatMap((feed) => (feed ? withFallbacks(feed) : []));
  return [...new Map(found.map((feed) => [feed.feed, feed])).values()];
}

function withFallbacks(feed: ChainlinkFeed): readonly ChainlinkFeed[] {
  return feed.fallback === undefined ? [feed] : [feed, ...withFallbacks(feed.fallback)];
}

/** The views of a Chainlink aggregator. */
export const aggregator = {
  latestRoundData: defineRead("function latestRoundData()", decodeRound),
  decimals: defineRead("function decimals()", decodeTokenDecimals),
};

export type AggregatorRound = {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
  readonly answeredInRound: bigint;
};

// A heartbeat update is a transaction, which may have to wait for a block.
const LATE_SECONDS_MAX = 300n;
// As Chainlink recommends: prices lag for a while after a sequencer restarts.
const SEQUENCER_GRACE_SECONDS = 3_600n;

/** Null for data that an aggregator cannot return. */
function decodeRound(returnData: Hex | null): AggregatorRound | null {
  const words = decodeWords(returnData, 5);
  if (words === null) return null;
  const [roundId, answer, startedAt, updatedAt, answeredInRound] = words;
  return { roundId, answer: BigInt.asIntN(256, answer), startedAt, updatedAt, answeredInRound };
}

/** The round's price; null when it is missing, carried over, not positive, from the future or stale. */
export function validatePrice(
  round: AggregatorRound | null,
  scale: number | null,
  { heartbeatSeconds }: Pick<ChainlinkFeed, "heartbeatSeconds">,
  blockTimestamp: number,
): Decimal | null {
  if (round === null || scale === null || scale > SCALE_MAX) return null;
  return isRoundCurrent(round, heartbeatSeconds, blockTimestamp) ? { units: round.answer, scale } : null;
}

/** Whether the round has an answer of its own, which is positive, not from the future and within the heartbeat. */
export function isRoundCurrent(
  { roundId, answer, updatedAt, answeredInRound }: AggregatorRound,
  heartbeatSeconds: number,
  blockTimestamp: number,
): boolean {
  // answeredInRound < roundId: the value was carried over from an earlier round.
  if (roundId === 0n || answeredInRound < roundId || answer <= 0n) return false;
  const now = BigInt(blockTimestamp);
  return updatedAt <= now && now - updatedAt <= BigInt(heartbeatSeconds) + LATE_SECONDS_MAX;
}

/** Whether the uptime feed reports a running sequencer, past the grace period. */
export function isSequencerUp(round: AggregatorRound | null, blockTimestamp: number): boolean {
  if (round === null) return false;
  const { answer, startedAt } = round;
  // startedAt is zero for a feed that never had a round.
  return answer === 0n && startedAt !== 0n && BigInt(blockTimestamp) - startedAt >= SEQUENCER_GRACE_SECONDS;
}

export function describeSequencerOutage(chainName: string, sourceTitle: string): string {
  return `The sequencer of ${chainName} is down or restarted within the last hour; no price from ${sourceTitle} is used there.`;
}
