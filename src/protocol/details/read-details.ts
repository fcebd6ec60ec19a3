// What events leave out, from the first source that has it for certain; the order of the sources is D190.

import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";
import {
  type ContractRecords,
  DETAILS_FROM_CALL,
  DETAILS_FROM_STATE,
  type DetailReads,
  type DetailsByEvent,
  encodeCallDetails,
  encodeStateDetails,
  groupByTransaction,
  type IncompleteEvent,
  type LocatedEvent,
  type StateBlock,
} from "./chain-reads.ts";
import { findForwardedCalls, matchCallsToEvents } from "./forwarded-calls.ts";

// Details from calls that other contracts made: as a node traces them, or as the transaction's input tells to make them.

/** Each effective call of the function emits one event: both in order, and as many, belong together. */
export async function matchTracedCalls(
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  found: DetailsByEvent,
  signal: AbortSignal,
): Promise<void> {
  if (wanting.length === 0) return;
  const traces = await reads.traceCalls([...new Set(wanting.map(({ event }) => event.txHash))], signal);
  for (const group of groupByTransaction(wanting).values()) {
    const [first] = group;
    if (!first) continue;
    const calls = (traces.get(first.event.txHash) ?? []).filter(
      ({ to, input }) => to === first.event.address && input.startsWith(first.detailsReader.selector),
    );
    const fits = group.every(({ event, detailsReader: reader }, i) =>
      reader.callMatches(calls[i]?.input ?? "0x", event),
    );
    if (calls.length !== group.length || !fits) continue;
    group.forEach(({ event }, i) => {
      const call = calls[i];
      if (call) found.set(event, encodeCallDetails(call.input));
    });
  }
}

/**
 * A forwarded call proves nothing by itself: the event does not commit to its details, and input may hold a call that was
 * never made. It must agree with the record: with all of it where the record is as of the block, and where it is not,
 * with what of it never changes (D191).
 */
export function matchForwardedCalls(
  wanting: readonly IncompleteEvent[],
  known: {
    readonly inputs: ReadonlyMap<Hex, Hex>;
    readonly records: ContractRecords;
    readonly located: readonly LocatedEvent[];
  },
  found: DetailsByEvent,
): void {
  const { exact, later } = known.records;
  const updates = updatesIn(wanting, known.located);
  for (const group of groupByTransaction(wanting).values()) {
    const [first] = group;
    const input = first && known.inputs.get(first.event.txHash);
    const calls = first && input ? findForwardedCalls(input, first.detailsReader.selector) : [];
    const matched = matchCallsToEvents(group, calls, (call, { event, detailsReader: reader }) => {
      const record = exact.get(event) ?? later.get(event);
      if (!record || !reader.mutable || !reader.callMatches(call, event)) return false;
      // An update in the same block replaces the rest before any reader can see it.
      const whole = exact.has(event) && !updates.has(recordKey(event, reader));
      return reader.mutable.agrees(call, record, whole ? "all" : "lasting");
    });
    for (const each of group) {
      const [call, record] = [matched.get(each), exact.get(each.event)];
      if (call) found.set(each.event, encodeCallDetails(call));
      else if (record) found.set(each.event, encodeStateDetails(record));
    }
  }
}

/** The records that a later event of the same block changes. */
function updatesIn(
  wanting: readonly IncompleteEvent[],
  located: readonly LocatedEvent[],
): ReadonlySet<string> {
  const updates = new Set<string>();
  const byContract = new Map(wanting.map(({ event, detailsReader: reader }) => [event.address, reader]));
  for (const { event } of located) {
    const reader = byContract.get(event.address);
    if (reader?.mutable?.eventName === event.name) updates.add(recordKey(event, reader));
  }
  return updates;
}

function recordKey(event: DecodedEvent, reader: DetailsReader<unknown>): string {
  return `${event.blockNumber} ${event.address} ${reader.encodeStateCall(event)}`;
}

export async function readDetails(
  located: readonly LocatedEvent[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlyMap<DecodedEvent, Hex>> {
  const found: DetailsByEvent = new Map();
  const wanting = located.flatMap(({ log, event }): IncompleteEvent[] =>
    event.rule.details ? [{ log, event, detailsReader: event.rule.details }] : [],
  );
  const open = () => wanting.filter(({ event }) => !found.has(event));
  if (wanting.length === 0) return found;

  const inputs = await takeDirectCalls(wanting, reads, found, signal);
  await takeLastingRecords(open(), reads, found, signal);
  const records = await readRecords(open(), reads, found, signal);
  matchForwardedCalls(open(), { inputs, records, located }, found);
  const [without] = open();
  if (without) throw unreadable(without);
  return found;
}

/** A call straight to the contract emits its event once. Where a transaction has several, a contract stood in between. */
async function takeDirectCalls(
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  found: DetailsByEvent,
  signal: AbortSignal,
): Promise<ReadonlyMap<Hex, Hex>> {
  const alone = [...groupByTransaction(wanting).values()].flatMap((group) =>
    group.length === 1 ? group : [],
  );
  const needed = [...alone, ...wanting.filter(({ detailsReader: reader }) => reader.mutable)];
  const transactions = await reads.readTransactions(
    [...new Set(needed.map(({ event }) => event.txHash))],
    signal,
  );
  for (const { event, detailsReader: reader } of alone) {
    const transaction = transactions.get(event.txHash);
    if (transaction?.to === event.address && reader.decodeCall(transaction.input)) {
      found.set(event, encodeCallDetails(transaction.input));
    }
  }
  return new Map([...transactions].map(([hash, { input }]) => [hash, input]));
}

/** Where nothing of the details ever changes, a later block tells them exactly, and every node has its state. */
async function takeLastingRecords(
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  found: DetailsByEvent,
  signal: AbortSignal,
): Promise<void> {
  const lasting = wanting.filter(({ detailsReader: reader }) => !reader.mutable);
  const { records } = await laterRecordsOf(lasting, reads, signal);
  for (const [event, record] of records) {
    found.set(event, encodeStateDetails(record));
  }
}

/**
 * The records as nodes still have them; what is traced on the way needs none. While a node fails that may have the state
 * at the block, only what is certain counts: its failure is thrown where nothing but a forwarded call would be left.
 */
async function readRecords(
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  found: DetailsByEvent,
  signal: AbortSignal,
): Promise<ContractRecords> {
  let failure: Fault | null = null;
  const exact = await recordsOf(wanting, reads.callAtBlocks, signal).catch((error): DetailsByEvent => {
    if (signal.aborted || !(error instanceof Fault)) throw error;
    failure = error;
    return new Map();
  });
  const pruned = wanting.filter(({ event }) => !exact.has(event));
  const { at, records: later } = await laterRecordsOf(pruned, reads, signal);
  const kept = pruned.filter(({ event }) => later.has(event));
  const unchanged = at ? await unchangedUntil(at, kept, reads, signal) : new Set();
  for (const [event, record] of later) if (unchanged.has(event)) exact.set(event, record);
  await matchTracedCalls(
    pruned.filter(({ event }) => !exact.has(event)),
    reads,
    found,
    signal,
  );
  if (failure && pruned.some(({ event }) => !exact.has(event) && !found.has(event))) throw failure;
  return { exact, later };
}

/** The events whose record no later event has changed, up to the block that it was read at. */
async function unchangedUntil(
  at: StateBlock,
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlySet<DecodedEvent>> {
  const queries = wanting.flatMap(({ log, event, detailsReader: { mutable: changing } }) =>
    changing
      ? [{ address: event.address, topics: changing.encodeTopics(event), fromBlock: log.blockNumber, event }]
      : [],
  );
  const changes = queries.length === 0 ? [] : await reads.haveChanged(queries, at, signal);
  return new Set(queries.flatMap(({ event }, index) => (changes[index] === false ? [event] : [])));
}

async function laterRecordsOf(
  wanting: readonly IncompleteEvent[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<{ readonly at: StateBlock | null; readonly records: DetailsByEvent }> {
  let at: StateBlock | null = null;
  const read: DetailReads["callAtBlocks"] = async (calls) => {
    const later = await reads.callAtLaterBlock(calls, signal);
    at = later.at;
    return later.results;
  };
  const records = await recordsOf(wanting, read, signal);
  return { at, records };
}

async function recordsOf(
  wanting: readonly IncompleteEvent[],
  read: DetailReads["callAtBlocks"],
  signal: AbortSignal,
): Promise<DetailsByEvent> {
  const records: DetailsByEvent = new Map();
  if (wanting.length === 0) return records;
  const outputs = await read(
    wanting.map(({ log, event, detailsReader: reader }) => ({
      to: event.address,
      data: reader.encodeStateCall(event),
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
    })),
    signal,
  );
  for (const [index, { event, detailsReader: reader }] of wanting.entries()) {
    const output = outputs[index];
    const record = output ? reader.normalizeRecord(output, event) : null;
    if (record) records.set(event, record);
  }
  return records;
}

function unreadable({ event }: IncompleteEvent): Fault {
  return new Fault(
    "NODE_STATE_MISSING",
    `What ${event.contract}.${event.name} leaves out in transaction ${event.txHash} of block ${event.blockNumber} is in no ` +
      "state that the nodes of RPC_URL still have, and the transaction's input does not show it. Add an archive node, or a " +
      "node that offers debug_traceTransaction for this block.",
  );
}

/** How a fold reads stored details. */
export function createStoredDetailsReader(stored: Hex | null): <T>(reader: DetailsReader<T>) => T {
  return (reader) => {
    const payload: Hex = `0x${stored?.slice(4) ?? ""}`;
    if (stored?.startsWith(DETAILS_FROM_STATE)) return reader.decodeState(payload);
    const read = stored?.startsWith(DETAILS_FROM_CALL) ? reader.decodeCall(payload) : null;
    if (read === null) throw new Error("the details of the event were not stored with its log");
    return read;
  };
}
