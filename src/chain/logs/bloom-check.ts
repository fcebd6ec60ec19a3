// Logs compared with the blooms of their blocks: what a bloom proves about them, and which omissions it suggests.
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { bloomHasBits, bloomMayContain, estimateBloomFalsePositiveRate } from "./bloom.ts";
import type { PreparedLogFilter } from "./filter.ts";
import type { NodeLog } from "./log.ts";

/**
 * Whether the block may contain the log; if not, it does not. Only the address and the first topic are checked: they
 * repeat, so their hashes are cached, while other topics would have to be hashed for each log.
 */
export function bloomMayContainLog(bloom: Hex, log: NodeLog): boolean {
  const [topic0] = log.topics;
  return bloomMayContain(bloom, log.address) && (topic0 === undefined || bloomMayContain(bloom, topic0));
}

/**
 * Whether the bloom says "maybe" about something in the filter of which the logs of the block show nothing: a topic of
 * any account, or an address together with one of its topics. If it is known what each address emits, every pair of
 * address and topic is checked. Two logs of one pair are one to the bloom: it cannot show that one of them is missing.
 */
export function hasUnreportedBloomMatch(
  bloom: Hex,
  { addresses, topics0, emitters }: PreparedLogFilter,
  logs: readonly NodeLog[],
): boolean {
  if (emitters !== null) return hasUnreportedPair(bloom, emitters, logs);
  const topics = topics0 === null ? null : [...topics0].filter((topic) => bloomMayContain(bloom, topic));
  if (addresses === null) {
    return (topics ?? []).some((topic) => !logs.some((log) => log.topics[0] === topic));
  }
  if (topics?.length === 0) return false;
  const reported = new Set(logs.map((log) => log.address));
  return [...addresses].some((address) => !reported.has(address) && bloomMayContain(bloom, address));
}

function hasUnreportedPair(
  bloom: Hex,
  emitters: NonNullable<PreparedLogFilter["emitters"]>,
  logs: readonly NodeLog[],
): boolean {
  for (const { address, bits, topics } of emitters) {
    if (!bloomHasBits(bloom, bits)) continue;
    for (const each of topics) {
      if (!bloomHasBits(bloom, each.bits)) continue;
      if (!logs.some((log) => log.topics[0] === each.topic && log.address === address)) return true;
    }
  }
  return false;
}

// A bloom with more expected false positives than this proves nothing: on busy chains every block would be suspicious.
const FALSE_POSITIVES_MAX = 1 / 16;

/** The headers worth a cross-check: their bloom suggests logs that the node has not shown. */
export function findSuspiciousHeaders(
  headers: readonly BlockHeader[],
  logs: readonly NodeLog[],
  filters: readonly PreparedLogFilter[],
): BlockHeader[] {
  const byBlock = groupBy(logs, ({ blockNumber }) => blockNumber);
  return headers.filter(({ number, logsBloom }) =>
    filters.some(
      (filter) =>
        hasUnreportedBloomMatch(logsBloom, filter, byBlock.get(number) ?? []) &&
        expectedFalsePositives(logsBloom, filter) <= FALSE_POSITIVES_MAX,
    ),
  );
}

/** How many matches of the filter the bloom is expected to suggest although the block has none of them. */
function expectedFalsePositives(bloom: Hex, { addresses, topics0, emitters }: PreparedLogFilter): number {
  const sixBits = estimateBloomFalsePositiveRate(bloom);
  if (addresses === null) return (topics0?.size ?? 1) * Math.sqrt(sixBits);
  const pairs = emitters
    ? emitters.reduce((sum, { topics }) => sum + topics.length, 0)
    : addresses.size * (topics0?.size ?? 1);
  return pairs * sixBits;
}
