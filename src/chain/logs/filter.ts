// Which logs are wanted: the questions put to a node, and the check that its answers keep to them.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { type BloomBits, bloomHasBits, bloomMayContain, computeBloomBits } from "./bloom.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

/** Logs of these addresses (null: of any account) with one of these first topics (null: with any). */
export type LogFilter = {
  readonly addresses: readonly Hex[] | null;
  readonly topics0: readonly Hex[] | null;
  /** Which of these topics each address can emit, where that is known: it makes the comparison with blooms exact. */
  readonly topicsByAddress?: Readonly<Record<string, readonly Hex[]>>;
};

/** A filter made ready: sets instead of lists, texts in lower case. */
export type PreparedLogFilter = {
  readonly addresses: ReadonlySet<Hex> | null;
  readonly topics0: ReadonlySet<Hex> | null;
  /** Looked up in the bloom of every block of history, so their bits are at hand. */
  readonly emitters: readonly Emitter[] | null;
};

type Emitter = { readonly address: Hex; readonly bits: BloomBits; readonly topics: readonly EmittedTopic[] };
type EmittedTopic = { readonly topic: Hex; readonly bits: BloomBits };

/** Refuses filters that a node would read as "everything": an empty list means no restriction to it. */
export function prepareLogFilters(filters: readonly LogFilter[]): readonly PreparedLogFilter[] {
  if (filters.length === 0) throw new Fault("INTERNAL", "A log query needs at least one filter.");
  return filters.map(({ addresses, topics0, topicsByAddress: emits }) => {
    if (addresses?.length === 0 || topics0?.length === 0 || (addresses === null && topics0 === null)) {
      throw new Fault(
        "INTERNAL",
        "A log filter must name at least one address or one topic, and no empty list.",
      );
    }
    return {
      addresses: lowerCase(addresses),
      topics0: lowerCase(topics0),
      emitters: emits ? pairsOf(emits) : null,
    };
  });
}

/** The filter as a node reads it, without the blocks. */
export function toFilterParams(wanted: PreparedLogFilter): Record<string, unknown> {
  return {
    ...(wanted.addresses ? { address: [...wanted.addresses] } : {}),
    ...(wanted.topics0 ? { topics: [[...wanted.topics0]] } : {}),
  };
}

/** The answer to one filter: every log well-formed and asked for, in strictly ascending order, none twice. */
export function parseLogs(answer: unknown, wanted: PreparedLogFilter): NodeLog[] {
  if (!Array.isArray(answer)) throw malformedResponse("the logs are not a list");
  const logs = answer.map(parseLog);
  for (const log of logs) {
    if (!matchesLogFilter(log, wanted)) throw malformedResponse(`a log of ${log.address} was not asked for`);
  }
  return inOrder(logs);
}

/** Several answers about the same blocks as one list; a log that two filters ask for appears once. */
export function mergeLogs(lists: readonly (readonly NodeLog[])[]): NodeLog[] {
  const [first, ...others] = lists.filter((list) => list.length > 0);
  if (first === undefined) return [];
  if (others.length === 0) return [...first];
  const sorted = lists.flat().sort(compareLogPositions);
  return sorted.filter((log, i) => {
    const before = sorted[i - 1];
    if (!before || compareLogPositions(before, log) !== 0) return true;
    if (!isSameLog(before, log)) {
      throw malformedResponse(`two logs claim position ${log.logIndex} of block ${log.blockNumber}`);
    }
    return false;
  });
}

/**
 * Whether the bloom says "maybe" about something wanted of which the logs of the block show nothing: a topic wanted
 * from any account, or an address that has a wanted topic beside it. Where it is known what each address emits, every
 * pair of address and topic is looked for. Two logs of one pair are one to the bloom: it cannot show that one of them
 * is missing.
 */
export function hasUnreportedBloomMatch(
  bloom: Hex,
  wanted: PreparedLogFilter,
  logs: readonly NodeLog[],
): boolean {
  if (wanted.emitters !== null) return hasSilentPair(bloom, wanted.emitters, logs);
  const topics =
    wanted.topics0 === null ? null : [...wanted.topics0].filter((topic) => bloomMayContain(bloom, topic));
  if (wanted.addresses === null) {
    return (topics ?? []).some((topic) => !logs.some((log) => log.topics[0] === topic));
  }
  if (topics?.length === 0) return false;
  const heard = new Set(logs.map((log) => log.address));
  return [...wanted.addresses].some((address) => !heard.has(address) && bloomMayContain(bloom, address));
}

function hasSilentPair(
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

/**
 * Whether the bloom knows the log; if not, the block does not contain it. Only the address and the first topic are
 * looked up: they repeat, so their hashes are at hand, while other topics would have to be hashed for each log.
 */
export function bloomMayContainLog(bloom: Hex, log: NodeLog): boolean {
  const [topic0] = log.topics;
  return bloomMayContain(bloom, log.address) && (topic0 === undefined || bloomMayContain(bloom, topic0));
}

/** Whether two sorted lists hold exactly the same logs. */
export function areSameLogs(a: readonly NodeLog[], b: readonly NodeLog[]): boolean {
  return a.length === b.length && a.every((log, i) => isSameLog(log, b[i] as NodeLog));
}

/** The block of the first log that only one of two sorted lists has, or has otherwise; null when they are the same. */
export function findFirstDifferingBlock(a: readonly NodeLog[], b: readonly NodeLog[]): number | null {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const [one, other] = [a[i], b[i]];
    if (one && other && isSameLog(one, other)) continue;
    return Math.min(
      one?.blockNumber ?? Number.POSITIVE_INFINITY,
      other?.blockNumber ?? Number.POSITIVE_INFINITY,
    );
  }
  return null;
}

function isSameLog(a: NodeLog, b: NodeLog): boolean {
  return (
    a.blockNumber === b.blockNumber &&
    a.logIndex === b.logIndex &&
    a.transactionIndex === b.transactionIndex &&
    a.blockHash === b.blockHash &&
    a.transactionHash === b.transactionHash &&
    a.address === b.address &&
    a.data === b.data &&
    a.topics.join() === b.topics.join()
  );
}

/** Whether a filter asks for the log. */
export function matchesLogFilter(log: NodeLog, wanted: PreparedLogFilter): boolean {
  if (wanted.addresses !== null && !wanted.addresses.has(log.address)) return false;
  if (wanted.topics0 === null) return true;
  const topic = log.topics[0];
  return topic !== undefined && wanted.topics0.has(topic);
}

// Nodes answer in order; one that does not is only untidy, but two logs in one place are a lie.
function inOrder(logs: NodeLog[]): NodeLog[] {
  let sorted = true;
  for (let i = 1; i < logs.length && sorted; i += 1) {
    sorted = compareLogPositions(logs[i - 1] as NodeLog, logs[i] as NodeLog) <= 0;
  }
  if (!sorted) logs.sort(compareLogPositions);
  for (let i = 1; i < logs.length; i += 1) {
    const log = logs[i] as NodeLog;
    if (compareLogPositions(logs[i - 1] as NodeLog, log) === 0) {
      throw malformedResponse(`two logs claim position ${log.logIndex} of block ${log.blockNumber}`);
    }
  }
  return logs;
}

function pairsOf(
  emitters: NonNullable<LogFilter["topicsByAddress"]>,
): NonNullable<PreparedLogFilter["emitters"]> {
  return Object.entries(emitters).map(([emitter, emitted]) => {
    const address = emitter.toLowerCase() as Hex;
    const topics = [...(lowerCase(emitted) ?? [])].map((topic) => ({ topic, bits: computeBloomBits(topic) }));
    return { address, bits: computeBloomBits(address), topics };
  });
}

function lowerCase(list: readonly Hex[] | null): ReadonlySet<Hex> | null {
  return list === null ? null : new Set(list.map((text) => text.toLowerCase() as Hex));
}
