// Types for reading details: events that leave something out, and the chain reads that find it.
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, ChainLog } from "../../schema/chain-log.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode-logs.ts";

/** A view call about a past event. */
export type StateCall = {
  readonly to: Hex;
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
};

type ChangeLogQuery = {
  readonly address: Hex;
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: number;
};

/** `at`: the block of the read state; null if there was no call. */
type LaterResults = { readonly at: BlockId | null; readonly results: readonly (Hex | null)[] };

/** The chain reads that details need: an interface because the protocol does not import the chain. */
export type DetailReads = {
  readTransactions(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, { readonly to: Hex | null; readonly input: Hex }>>;
  /**
   * View calls at the state after their block; null for a revert, and if no node has that state. Throws a Fault while a
   * node that may have it fails.
   */
  callAtBlocks(calls: readonly StateCall[], signal: AbortSignal): Promise<readonly (Hex | null)[]>;
  /** View calls at a later block whose state every node has; null for a revert. */
  callAtLaterBlock(calls: readonly StateCall[], signal: AbortSignal): Promise<LaterResults>;
  /** Whether a contract emitted an event with these topics between the two blocks; null if no node knows. */
  haveChanged(
    queries: readonly ChangeLogQuery[],
    at: BlockId,
    signal: AbortSignal,
  ): Promise<readonly (boolean | null)[]>;
  /** The effective calls of transactions, in order; absent if no node traces the transaction. */
  traceCalls(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, readonly { readonly to: Hex; readonly input: Hex }[]>>;
};

export type IncompleteEvent = {
  readonly log: ChainLog;
  readonly event: DecodedEvent;
  readonly reader: DetailsReader<unknown>;
};
export type LocatedEvent = Omit<IncompleteEvent, "reader">;
/** The details to store with the log of each event. */
export type DetailsByEvent = Map<DecodedEvent, Hex>;

/** The records of events, as far as nodes have them. */
export type ContractRecords = {
  /** As of the event's block, or unchanged since. */
  readonly exact: ReadonlyMap<DecodedEvent, Hex>;
  /** As of a later block: only the immutable fields are certain. */
  readonly later: ReadonlyMap<DecodedEvent, Hex>;
};

/** Events of one kind, contract and transaction, in the order they were emitted. */
export function groupByTransaction(
  incomplete: readonly IncompleteEvent[],
): ReadonlyMap<string, IncompleteEvent[]> {
  const groups = new Map<string, IncompleteEvent[]>();
  for (const each of incomplete) {
    const { txHash, address, name } = each.event;
    const key = `${txHash}${address}${name}`;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return groups;
}
