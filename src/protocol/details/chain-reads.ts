// What reading details works with: events that leave something out, the reads of the chain, and the form of what is stored.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";

/** A view call about an event of the past. */
export type StateCall = {
  readonly to: Hex;
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
};

export type ChangeLogQuery = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly fromBlock: number;
};

export type StateBlock = { readonly number: number; readonly hash: Hex };

/** `at`: the block that was read at; null where there was no call. */
type LaterResults = { readonly at: StateBlock | null; readonly results: readonly (Hex | null)[] };

/** The chain reads that details need; a door plugs them in. */
export type DetailReads = {
  readTransactions(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, { readonly to: Hex | null; readonly input: Hex }>>;
  /**
   * View calls at the state after their block; null for a revert, and where no node has that state. Throws a Fault while
   * a node that may have it fails.
   */
  callAtBlocks(calls: readonly StateCall[], signal: AbortSignal): Promise<readonly (Hex | null)[]>;
  /** View calls at a later block of the same chain, which every node has the state of; null for a revert. */
  callAtLaterBlock(calls: readonly StateCall[], signal: AbortSignal): Promise<LaterResults>;
  /** Whether a contract emitted an event with these topics from the block to that one; null where no node says. */
  haveChanged(
    queries: readonly ChangeLogQuery[],
    at: StateBlock,
    signal: AbortSignal,
  ): Promise<readonly (boolean | null)[]>;
  /** The calls of transactions that took effect, in order; absent where no node traces the transaction. */
  traceCalls(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, readonly { readonly to: Hex; readonly input: Hex }[]>>;
};

export type IncompleteEvent = {
  readonly log: ChainLog;
  readonly event: DecodedEvent;
  readonly detailsReader: DetailsReader<unknown>;
};
export type LocatedEvent = Omit<IncompleteEvent, "detailsReader">;
/** What is stored with the log of each event. */
export type DetailsByEvent = Map<DecodedEvent, Hex>;

/** The records of events, as far as nodes have them. */
export type ContractRecords = {
  /** As of the event's block, or unchanged since. */
  readonly exact: ReadonlyMap<DecodedEvent, Hex>;
  /** As of a later block: only what never changes is certain. */
  readonly later: ReadonlyMap<DecodedEvent, Hex>;
};

// Stored with the log, so that a rebuild needs no node: one byte says which of the two it is.
export const DETAILS_FROM_CALL = "0x00";
export const DETAILS_FROM_STATE = "0x01";

export const encodeCallDetails = (input: Hex): Hex => `${DETAILS_FROM_CALL}${input.slice(2)}`;
export const encodeStateDetails = (record: Hex): Hex => `${DETAILS_FROM_STATE}${record.slice(2)}`;

/** Events of one kind, contract and transaction, in the order they were emitted. */
export function groupByTransaction(
  wanting: readonly IncompleteEvent[],
): ReadonlyMap<string, IncompleteEvent[]> {
  const groups = new Map<string, IncompleteEvent[]>();
  for (const each of wanting) {
    const { txHash, address, name } = each.event;
    const key = `${txHash}${address}${name}`;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return groups;
}
