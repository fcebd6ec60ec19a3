// Log filters: as a caller writes them, as a node reads them, and compared with logs and with the blooms of blocks.

import { keccak256 } from "viem";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { type NodeLog, parseLogs, sortLogs } from "./log.ts";

/** Logs of these addresses (null: of any account) with one of these first topics (null: with any). */
export type LogFilter = {
  readonly addresses: readonly Hex[] | null;
  readonly topics0: readonly Hex[] | null;
  /**
   * The topics of this filter that each address can emit, if that is known: it makes the comparison with blooms exact.
   */
  readonly topicsByAddress?: Readonly<Record<string, readonly Hex[]>>;
};

/** A filter prepared for lookups: sets instead of lists, text in lower case. */
export type PreparedLogFilter = {
  readonly addresses: ReadonlySet<Hex> | null;
  readonly topics0: ReadonlySet<Hex> | null;
  /** With their bloom bits, because every block of history is checked for them. */
  readonly emitters: readonly Emitter[] | null;
};

type Emitter = { readonly address: Hex; readonly bits: BloomBits; readonly topics: readonly EmittedTopic[] };
type EmittedTopic = { readonly topic: Hex; readonly bits: BloomBits };

/** Rejects filters that a node would read as "everything": to it, an empty list means no restriction. */
export function prepareLogFilters(filters: readonly LogFilter[]): readonly PreparedLogFilter[] {
  if (filters.length === 0) throw new Fault("INTERNAL", "A log query needs at least one filter.");
  return filters.map(({ addresses, topics0, topicsByAddress }) => {
    if (addresses?.length === 0 || topics0?.length === 0 || (addresses === null && topics0 === null)) {
      throw new Fault(
        "INTERNAL",
        "A log filter must name at least one address or one topic, and no empty list.",
      );
    }
    return {
      addresses: addresses && lowerCaseSet(addresses),
      topics0: topics0 && lowerCaseSet(topics0),
      emitters: topicsByAddress ? prepareEmitters(topicsByAddress) : null,
    };
  });
}

function prepareEmitters(topicsByAddress: NonNullable<LogFilter["topicsByAddress"]>): readonly Emitter[] {
  return Object.entries(topicsByAddress).map(([emitter, emitted]) => {
    const address = emitter.toLowerCase() as Hex;
    const topics = [...lowerCaseSet(emitted)].map((topic) => ({ topic, bits: computeBloomBits(topic) }));
    return { address, bits: computeBloomBits(address), topics };
  });
}

function lowerCaseSet(list: readonly Hex[]): ReadonlySet<Hex> {
  return new Set(list.map((text) => text.toLowerCase() as Hex));
}

/** The filter as a node reads it, without the blocks. */
export function toFilterParams({ addresses, topics0 }: PreparedLogFilter): Record<string, unknown> {
  return {
    ...(addresses ? { address: [...addresses] } : {}),
    ...(topics0 ? { topics: [[...topics0]] } : {}),
  };
}

/** The logs of one query: every log well-formed and requested, in strictly ascending order, none twice. */
export function parseFilteredLogs(list: readonly unknown[], filter: PreparedLogFilter): NodeLog[] {
  const logs = parseLogs(list);
  for (const log of logs) {
    if (!matchesLogFilter(log, filter)) throw malformedResponse(`a log of ${log.address} was not requested`);
  }
  return sortLogs(logs);
}

export function matchesLogFilter(log: NodeLog, { addresses, topics0 }: PreparedLogFilter): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  if (topics0 === null) return true;
  const topic = log.topics[0];
  return topic !== undefined && topics0.has(topic);
}

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

/** Three bit positions out of 2048. */
type BloomBits = readonly [number, number, number];

// Hashing costs far more than a lookup. Contracts and topics are few; other accounts come and go.
const CACHED_MAX = 20_000;
const cached = new Map<Hex, BloomBits>();

/** Whether the bloom may contain the value (an address or a topic); false is certain. */
export function bloomMayContain(bloom: Hex, value: Hex): boolean {
  return bloomHasBits(bloom, computeBloomBits(value));
}

/** The same for bits computed before. */
function bloomHasBits(bloom: Hex, [a, b, c]: BloomBits): boolean {
  return isSet(bloom, a) && isSet(bloom, b) && isSet(bloom, c);
}

/**
 * How likely the bloom says "maybe" to an address and a topic that are not there: six bits set by others. On a busy
 * chain blooms are nearly full, and their "maybe" says next to nothing.
 */
export function estimateBloomFalsePositiveRate(bloom: Hex): number {
  let set = 0;
  for (let i = 2; i < bloom.length; i += 1) set += BITS_OF_DIGIT[digit(bloom, i)] ?? 0;
  return (set / 2048) ** 6;
}

const BITS_OF_DIGIT = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/** The bits that a value sets in a bloom. */
function computeBloomBits(value: Hex): BloomBits {
  const known = cached.get(value);
  if (known) return known;
  const hash = keccak256(value);
  const at = (pair: number) => Number.parseInt(hash.slice(2 + pair * 4, 6 + pair * 4), 16) & 2047;
  const bits: BloomBits = [at(0), at(1), at(2)];
  if (cached.size >= CACHED_MAX) cached.clear();
  cached.set(value, bits);
  return bits;
}

// Bit 0 is the lowest bit of the last byte, so positions count from the end of the text.
function isSet(bloom: Hex, bit: number): boolean {
  return (digit(bloom, 513 - (bit >> 2)) & (1 << (bit & 3))) !== 0;
}

function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code <= 57 ? code - 48 : code - 87;
}
