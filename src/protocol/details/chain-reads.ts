// What reading details works with: events that leave something out, the reads of the chain, and the form of what is stored.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";

/** A view call about an event of the past. */
export type DetailCall = {
  readonly to: Hex;
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
};

export type ChangeQuery = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly fromBlock: number;
};

export type BlockPlace = { readonly number: number; readonly hash: Hex };

/** `at`: the block that was read at; null where there was no call. */
type LaterResults = { readonly at: BlockPlace | null; readonly results: readonly (Hex | null)[] };

/** The chain reads that details need; a door plugs them in. */
export type DetailReads = {
  transactions(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, { readonly to: Hex | null; readonly input: Hex }>>;
  /**
   * View calls at the state after their block; null for a revert, and where no node has that state. Throws a Fault while
   * a node that may have it fails.
   */
  callsAt(calls: readonly DetailCall[], signal: AbortSignal): Promise<readonly (Hex | null)[]>;
  /** View calls at a later block of the same chain, which every node has the state of; null for a revert. */
  callsLater(calls: readonly DetailCall[], signal: AbortSignal): Promise<LaterResults>;
  /** Whether a contract emitted an event with these topics from the block to that one; null where no node says. */
  changes(
    queries: readonly ChangeQuery[],
    at: BlockPlace,
    signal: AbortSignal,
  ): Promise<readonly (boolean | null)[]>;
  /** The calls of transactions that took effect, in order; absent where no node traces the transaction. */
  traces(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, readonly { readonly to: Hex; readonly input: Hex }[]>>;
};

export type Wanting = {
  readonly log: ChainLog;
  readonly event: DecodedEvent;
  readonly reader: DetailsReader<unknown>;
};
export type Located = Omit<Wanting, "reader">;
/** What is stored with the log of each event. */
export type Found = Map<DecodedEvent, Hex>;

/** The records of events, as far as nodes have them. */
export type Records = {
  /** As of the event's block, or unchanged since. */
  readonly exact: ReadonlyMap<DecodedEvent, Hex>;
  /** As of a later block: only what never changes is certain. */
  readonly later: ReadonlyMap<DecodedEvent, Hex>;
};

// Stored with the log, so that a rebuild needs no node: one byte says which of the two it is.
export const FROM_CALL = "0x00";
export const FROM_STATE = "0x01";

export const storedCall = (input: Hex): Hex => `${FROM_CALL}${input.slice(2)}`;
export const storedState = (record: Hex): Hex => `${FROM_STATE}${record.slice(2)}`;

/** Events of one kind, contract and transaction, in the order they were emitted. */
export function groupsOf(wanting: readonly Wanting[]): ReadonlyMap<string, Wanting[]> {
  const groups = new Map<string, Wanting[]>();
  for (const each of wanting) {
    const { txHash, address, name } = each.event;
    const key = `${txHash}${address}${name}`;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return groups;
}
