// What a lending market's price must pass before it values a position: the market is asked last, and not about everything.
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { Hex } from "../../lib/hex.ts";
import { aggregator, decodeRound, isSequencerUp } from "../prices/chainlink.ts";
import type { ContractRead, PinnedChain } from "../types.ts";

/** By chain id: a price of its own, or rejected for its age, so that no market may bring it back. */
export function hasPinnedFeed(chainId: number, contract: Hex | null): boolean {
  const feeds = CHAINLINK_FEEDS.get(chainId);
  return contract === null ? Boolean(feeds?.native) : feeds?.tokens[contract] !== undefined;
}

/** The call that tells whether the chain's sequencer runs; empty on a chain without one. */
export function encodeSequencerCalls({ chain }: PinnedChain): readonly ContractRead[] {
  const sequencer = CHAINLINK_FEEDS.get(chain.chainId)?.sequencer ?? null;
  return sequencer === null ? [] : [aggregator.latestRoundData(sequencer)];
}

/** While the sequencer is down, prices stand still. `results` are those of `encodeSequencerCalls`. */
export function isPricing({ block }: PinnedChain, results: readonly (Hex | null)[]): boolean {
  return results.every((result) => isSequencerUp(decodeRound(result), block.timestamp));
}

// Funds set their value on business days only, and holidays make long weekends.
const AGE_SECONDS_MAX = 7 * 86_400;

type FeedTime = {
  /** Null for an adapter that computes a price and tells no time. */
  readonly timestamp: number | null;
  readonly isStale: boolean;
};

/** `result` is the newest round of the feed, if it has rounds. */
export function judgeFeedTime({ block }: PinnedChain, result: Hex | null | undefined): FeedTime {
  const round = decodeRound(result);
  if (round === null) return { timestamp: null, isStale: false };
  const age = BigInt(block.timestamp) - round.updatedAt;
  const isStale = age < 0n || age > BigInt(AGE_SECONDS_MAX);
  return { timestamp: isStale ? null : Number(round.updatedAt), isStale };
}
