// Blocks whose bloom speaks of a wanted log that the node has not shown.
import type { Hex } from "../../lib/hex.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { estimateBloomFalsePositiveRate } from "./bloom.ts";
import { hasUnreportedBloomMatch, type PreparedLogFilter } from "./filter.ts";
import type { NodeLog } from "./log.ts";

// A bloom that says "maybe" by chance more often than this says nothing: on busy chains every block would be suspicious.
const CHANCE_MAX = 1 / 16;

/** The headers worth a second look, given the logs that the node has shown of their blocks. */
export function findSuspiciousHeaders(
  headers: readonly BlockHeader[],
  logs: readonly NodeLog[],
  wanted: readonly PreparedLogFilter[],
): BlockHeader[] {
  const byBlock = new Map<number, NodeLog[]>();
  for (const log of logs) {
    const known = byBlock.get(log.blockNumber);
    if (known) known.push(log);
    else byBlock.set(log.blockNumber, [log]);
  }
  return headers.filter(({ number, logsBloom }) =>
    wanted.some(
      (each) =>
        hasUnreportedBloomMatch(logsBloom, each, byBlock.get(number) ?? []) &&
        chanceOfMaybe(logsBloom, each) <= CHANCE_MAX,
    ),
  );
}

/** How many wanted things the bloom is expected to claim although nothing of them is in the block. */
function chanceOfMaybe(bloom: Hex, { addresses, topics0, emitters: emits }: PreparedLogFilter): number {
  const sixBits = estimateBloomFalsePositiveRate(bloom);
  if (addresses === null) return (topics0?.size ?? 1) * Math.sqrt(sixBits);
  const pairs = emits
    ? emits.reduce((sum, { topics }) => sum + topics.length, 0)
    : addresses.size * (topics0?.size ?? 1);
  return pairs * sixBits;
}
