// Decides whether a lending market's price may value a position: the market comes last, and not for everything.
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { Hex } from "../../lib/hex.ts";
import { Reads } from "../contract-reads/reads.ts";
import { type AggregatorRound, aggregator, isSequencerUp } from "../prices/chainlink.ts";
import type { PinnedChain } from "../types.ts";

/**
 * Assets by chain id that have a price of their own, or one that was rejected for its age, so that no market may bring
 * it back.
 */
export function hasPinnedFeed(chainId: number, contract: Hex | null): boolean {
  const feeds = CHAINLINK_FEEDS.get(chainId);
  return contract === null ? Boolean(feeds?.native) : feeds?.tokens[contract] !== undefined;
}

/** Whether prices move: they stand still while the chain's sequencer is down. True on a chain without one. */
export function declareIsPricing({ chain, block }: PinnedChain): Reads<boolean> {
  const sequencer = CHAINLINK_FEEDS.get(chain.chainId)?.sequencer ?? null;
  if (sequencer === null) return new Reads([], () => true);
  return aggregator.latestRoundData(sequencer).map((round) => isSequencerUp(round, block.timestamp));
}

// Funds set their value on business days only, and holidays make long weekends.
const AGE_SECONDS_MAX = 7 * 86_400;

type FeedTime = {
  /** Null for an adapter that computes a price and tells no time. */
  readonly timestamp: number | null;
  readonly isStale: boolean;
};

/** `round` is the newest of the feed, if it has rounds. */
export function judgeFeedTime({ block }: PinnedChain, round: AggregatorRound | null): FeedTime {
  if (round === null) return { timestamp: null, isStale: false };
  const age = BigInt(block.timestamp) - round.updatedAt;
  const isStale = age < 0n || age > BigInt(AGE_SECONDS_MAX);
  return { timestamp: isStale ? null : Number(round.updatedAt), isStale };
}
