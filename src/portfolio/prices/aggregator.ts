// A Chainlink aggregator: its newest round, and whether that round can still be believed.
import { parseAbi } from "viem";
import { type Decimal, SCALE_MAX } from "../../kit/decimal.ts";
import type { Hex } from "../../kit/hex.ts";
import { type ContractCall, contractCall } from "./contract-call.ts";
import type { Feed } from "./feeds/chain-feeds.ts";

const aggregatorAbi = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
  "function decimals() view returns (uint8)",
]);

export type Round = readonly [
  roundId: bigint,
  answer: bigint,
  startedAt: bigint,
  updatedAt: bigint,
  answeredInRound: bigint,
];

// A heartbeat is kept by a transaction of its own, which may wait for a block and compete for it.
const LATE_SECONDS_MAX = 300n;
// Chainlink's own advice: prices lag behind for a while after a sequencer comes back.
const SEQUENCER_GRACE_SECONDS = 3_600n;

export function latestRound(to: Hex): ContractCall<Round> {
  return contractCall({ to, abi: aggregatorAbi, name: "latestRoundData", args: [] });
}

export function feedDecimals(to: Hex): ContractCall<number> {
  return contractCall({ to, abi: aggregatorAbi, name: "decimals", args: [] });
}

/** The round's price; null when it is missing, out of order, not positive, from the future or too old. */
export function believedPrice(
  round: Round | null,
  decimals: number | null,
  { heartbeatSeconds }: Feed,
  blockTimestamp: number,
): Decimal | null {
  if (round === null || decimals === null || decimals > SCALE_MAX) return null;
  const [roundId, answer, , updatedAt, answeredInRound] = round;
  const now = BigInt(blockTimestamp);
  // A round that carries over an older answer was never answered itself.
  if (roundId === 0n || answeredInRound < roundId || answer <= 0n) return null;
  if (updatedAt > now || now - updatedAt > BigInt(heartbeatSeconds) + LATE_SECONDS_MAX) return null;
  return { units: answer, scale: decimals };
}

/** Whether an uptime feed says that the sequencer runs, and has done so for long enough. */
export function sequencerRuns(round: Round | null, blockTimestamp: number): boolean {
  if (round === null) return false;
  const [, answer, startedAt] = round;
  // Zero as a start is what a feed says that never had a round.
  return answer === 0n && startedAt !== 0n && BigInt(blockTimestamp) - startedAt >= SEQUENCER_GRACE_SECONDS;
}

export function sequencerWarning(chainName: string, sourceTitle: string): string {
  return `The sequencer of ${chainName} is down or was so within the hour; no price of ${sourceTitle} is used there.`;
}
