// Log filters: as a caller writes them, prepared for comparison, and as a node reads them.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { type BloomBits, computeBloomBits } from "./bloom.ts";
import { type NodeLog, parseLog, sortLogs } from "./log.ts";

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
  const logs = list.map(parseLog);
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
