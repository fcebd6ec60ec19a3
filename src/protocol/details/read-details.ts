// What events leave out, from the first source that has it for certain; the order of the sources is D190.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";
import { matchForwardedCalls, matchTracedCalls } from "./call-details.ts";
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
