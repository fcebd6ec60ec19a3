// A Chainlink aggregator: its newest round, and whether that round can still be believed.

import type { ChainlinkFeed } from "../../chain/price-feeds/price-feed.ts";
import { decodeWords, wordToSigned } from "../../lib/abi/return-data.ts";
import { type Decimal, SCALE_MAX } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";

export const latestRoundData = createCallEncoder("function latestRoundData()");
export const decimals = createCallEncoder("function decimals() view returns (uint8)");

/** Round id, answer, start, update, and the round the answer is from. */
const ROUND_WORDS = 5;

export type AggregatorRound = {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
  readonly answeredInRound: bigint;
};

// A heartbeat is kept by a transaction of its own, which may wait for a block and compete for it.
const LATE_SECONDS_MAX = 300n;
// Chainlink's own advice: prices lag behind for a while after a sequencer comes back.
const SEQUENCER_GRACE_SECONDS = 3_600n;

/** Null for what an aggregator could not have answered. */
export function decodeRound(given: Hex | null | undefined): AggregatorRound | null {
  const [roundId, word, startedAt, updatedAt, answeredInRound] = decodeWords(given, ROUND_WORDS) ?? [];
  const answer = wordToSigned(word, 256);
  if (roundId === undefined || answer === null || startedAt === undefined) return null;
  if (updatedAt === undefined || answeredInRound === undefined) return null;
  return { roundId, answer, startedAt, updatedAt, answeredInRound };
}

/** The round's price; null when it is missing, out of order, not positive, from the future or too old. */
export function validatePrice(
  round: AggregatorRound | null,
  scale: number | null,
  { heartbeatSeconds }: ChainlinkFeed,
  blockTimestamp: number,
): Decimal | null {
  if (round === null || scale === null || scale > SCALE_MAX) return null;
  const { roundId, answer, updatedAt, answeredInRound } = round;
  const now = BigInt(blockTimestamp);
  // A round that carries over an older answer was never answered itself.
  if (roundId === 0n || answeredInRound < roundId || answer <= 0n) return null;
  if (updatedAt > now || now - updatedAt > BigInt(heartbeatSeconds) + LATE_SECONDS_MAX) return null;
  return { units: answer, scale };
}

/** Whether an uptime feed says that the sequencer runs, and has done so for long enough. */
export function isSequencerUp(round: AggregatorRound | null, blockTimestamp: number): boolean {
  if (round === null) return false;
  const { answer, startedAt } = round;
  // Zero as a start is what a feed says that never had a round.
  return answer === 0n && startedAt !== 0n && BigInt(blockTimestamp) - startedAt >= SEQUENCER_GRACE_SECONDS;
}

export function describeSequencerOutage(chainName: string, sourceTitle: string): string {
  return `The sequencer of ${chainName} is down or was so within the hour; no price of ${sourceTitle} is used there.`;
}
