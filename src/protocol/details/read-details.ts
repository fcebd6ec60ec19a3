// What events leave out, from the first source that has it for certain; the order of the sources is D190.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";
import { takeForwardedCalls, takeTracedCalls } from "./call-details.ts";
import {
  type BlockPlace,
  type DetailReads,
  type Found,
  FROM_CALL,
  FROM_STATE,
  groupsOf,
  type Located,
  type Records,
  storedCall,
  storedState,
  type Wanting,
} from "./chain-reads.ts";

export async function readDetails(
  located: readonly Located[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlyMap<DecodedEvent, Hex>> {
  const found: Found = new Map();
  const wanting = located.flatMap(({ log, event }): Wanting[] =>
    event.rule.details ? [{ log, event, reader: event.rule.details }] : [],
  );
  const open = () => wanting.filter(({ event }) => !found.has(event));
  if (wanting.length === 0) return found;

  const inputs = await takeDirectCalls(wanting, reads, found, signal);
  await takeLastingRecords(open(), reads, found, signal);
  const records = await readRecords(open(), reads, found, signal);
  takeForwardedCalls(open(), { inputs, records, located }, found);
  const [without] = open();
  if (without) throw unreadable(without);
  return found;
}

/** A call straight to the contract emits its event once. Where a transaction has several, a contract stood in between. */
async function takeDirectCalls(
  wanting: readonly Wanting[],
  reads: DetailReads,
  found: Found,
  signal: AbortSignal,
): Promise<ReadonlyMap<Hex, Hex>> {
  const alone = [...groupsOf(wanting).values()].flatMap((group) => (group.length === 1 ? group : []));
  const needed = [...alone, ...wanting.filter(({ reader }) => reader.changing)];
  const transactions = await reads.transactions(
    [...new Set(needed.map(({ event }) => event.txHash))],
    signal,
  );
  for (const { event, reader } of alone) {
    const transaction = transactions.get(event.txHash);
    if (transaction?.to === event.address && reader.fromCall(transaction.input)) {
      found.set(event, storedCall(transaction.input));
    }
  }
  return new Map([...transactions].map(([hash, { input }]) => [hash, input]));
}

/** Where nothing of the details ever changes, a later block tells them exactly, and every node has its state. */
async function takeLastingRecords(
  wanting: readonly Wanting[],
  reads: DetailReads,
  found: Found,
  signal: AbortSignal,
): Promise<void> {
  const lasting = wanting.filter(({ reader }) => !reader.changing);
  const { records } = await laterRecordsOf(lasting, reads, signal);
  for (const [event, record] of records) {
    found.set(event, storedState(record));
  }
}

/**
 * The records as nodes still have them; what is traced on the way needs none. While a node fails that may have the state
 * at the block, only what is certain counts: its failure is thrown where nothing but a forwarded call would be left.
 */
async function readRecords(
  wanting: readonly Wanting[],
  reads: DetailReads,
  found: Found,
  signal: AbortSignal,
): Promise<Records> {
  let failure: Fault | null = null;
  const exact = await recordsOf(wanting, reads.callsAt, signal).catch((error): Found => {
    if (signal.aborted || !(error instanceof Fault)) throw error;
    failure = error;
    return new Map();
  });
  const pruned = wanting.filter(({ event }) => !exact.has(event));
  const { at, records: later } = await laterRecordsOf(pruned, reads, signal);
  const kept = pruned.filter(({ event }) => later.has(event));
  const unchanged = at ? await unchangedUntil(at, kept, reads, signal) : new Set();
  for (const [event, record] of later) if (unchanged.has(event)) exact.set(event, record);
  await takeTracedCalls(
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
  at: BlockPlace,
  wanting: readonly Wanting[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlySet<DecodedEvent>> {
  const queries = wanting.flatMap(({ log, event, reader: { changing } }) =>
    changing
      ? [{ address: event.address, topics: changing.topics(event), fromBlock: log.blockNumber, event }]
      : [],
  );
  const changes = queries.length === 0 ? [] : await reads.changes(queries, at, signal);
  return new Set(queries.flatMap(({ event }, index) => (changes[index] === false ? [event] : [])));
}

async function laterRecordsOf(
  wanting: readonly Wanting[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<{ readonly at: BlockPlace | null; readonly records: Found }> {
  let at: BlockPlace | null = null;
  const read: DetailReads["callsAt"] = async (calls) => {
    const later = await reads.callsLater(calls, signal);
    at = later.at;
    return later.results;
  };
  const records = await recordsOf(wanting, read, signal);
  return { at, records };
}

async function recordsOf(
  wanting: readonly Wanting[],
  read: DetailReads["callsAt"],
  signal: AbortSignal,
): Promise<Found> {
  const records: Found = new Map();
  if (wanting.length === 0) return records;
  const outputs = await read(
    wanting.map(({ log, event, reader }) => ({
      to: event.address,
      data: reader.stateCall(event),
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
    })),
    signal,
  );
  for (const [index, { event, reader }] of wanting.entries()) {
    const output = outputs[index];
    const record = output ? reader.recordOf(output, event) : null;
    if (record) records.set(event, record);
  }
  return records;
}

function unreadable({ event }: Wanting): Fault {
  return new Fault(
    "NODE_STATE_MISSING",
    `What ${event.contract}.${event.name} leaves out in transaction ${event.txHash} of block ${event.blockNumber} is in no ` +
      "state that the nodes of RPC_URL still have, and the transaction's input does not show it. Add an archive node, or a " +
      "node that offers debug_traceTransaction for this block.",
  );
}

/** How a fold reads stored details. */
export function readerOf(stored: Hex | null): <T>(reader: DetailsReader<T>) => T {
  return (reader) => {
    const payload: Hex = `0x${stored?.slice(4) ?? ""}`;
    if (stored?.startsWith(FROM_STATE)) return reader.fromState(payload);
    const read = stored?.startsWith(FROM_CALL) ? reader.fromCall(payload) : null;
    if (read === null) throw new Error("the details of the event were not stored with its log");
    return read;
  };
}
