// Reads what events leave out, from the first source that is certain; docs/architecture.md has their order.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { BlockId, ChainLog } from "../../schema/chain-log.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import { createLogDecoder, type DecodedEvent, type DecodedLog } from "../decode-logs.ts";
import type { Deployment } from "../deployment.ts";
import { encodeCallDetails, encodeStateDetails } from "../fold.ts";
import { findForwardedCalls, matchCallsToEvents } from "./forwarded-calls.ts";

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

type IncompleteEvent = {
  readonly log: ChainLog;
  readonly event: DecodedEvent;
  readonly reader: DetailsReader<unknown>;
};
type LocatedEvent = Omit<IncompleteEvent, "reader">;
/** The details to store with the log of each event. */
type DetailsByEvent = Map<DecodedEvent, Hex>;

/** The records of events, as far as nodes have them. */
type ContractRecords = {
  /** As of the event's block, or unchanged since. */
  readonly exact: ReadonlyMap<DecodedEvent, Hex>;
  /** As of a later block: only the immutable fields are certain. */
  readonly later: ReadonlyMap<DecodedEvent, Hex>;
};

/** The reads of one batch, and the details found so far. */
type DetailsSearch = {
  readonly reads: DetailReads;
  readonly found: DetailsByEvent;
  readonly signal: AbortSignal;
};

/** Decodes logs and adds what their events leave out; drops logs that are not events of the protocol. */
export type AddDetails = (logs: readonly ChainLog[], signal: AbortSignal) => Promise<readonly DecodedLog[]>;

export function createAddDetails(deployment: Deployment, reads: DetailReads): AddDetails {
  const decoder = createLogDecoder(deployment);
  return async (logs, signal) => {
    const events: { readonly log: ChainLog; readonly event: DecodedEvent }[] = [];
    for (const log of logs) {
      const event = decoder.decode(log, BigInt(log.blockTimestamp));
      // Logs that only look like an account's event are not stored at all.
      if (event) events.push({ log, event });
    }
    const details = await readDetails(events, reads, signal);
    return events.map(({ log, event }) => ({ log, details: details.get(event) ?? null, event }));
  };
}

/** Each effective call of the function emits one event, so as many calls as events match in order. */
async function matchTracedCalls(
  incomplete: readonly IncompleteEvent[],
  { reads, found, signal }: DetailsSearch,
): Promise<void> {
  if (incomplete.length === 0) return;
  const traces = await reads.traceCalls([...new Set(incomplete.map(({ event }) => event.txHash))], signal);
  for (const group of groupByTransaction(incomplete).values()) {
    const [first] = group;
    if (!first) continue;
    const calls = (traces.get(first.event.txHash) ?? []).filter(
      ({ to, input }) => to === first.event.address && input.startsWith(first.reader.selector),
    );
    const fits = group.every(({ event, reader }, i) => reader.callMatches(calls[i]?.input ?? "0x", event));
    if (calls.length !== group.length || !fits) continue;
    group.forEach(({ event }, i) => {
      const call = calls[i];
      if (call) found.set(event, encodeCallDetails(call.input));
    });
  }
}

/**
 * A forwarded call proves nothing by itself: the event does not commit to its details, and the input may hold a call
 * that was never made. It must agree with the record: with all fields if the record is as of the block, otherwise with
 * the immutable ones.
 */
function matchForwardedCalls(
  incomplete: readonly IncompleteEvent[],
  known: {
    readonly inputs: ReadonlyMap<Hex, Hex>;
    readonly records: ContractRecords;
    readonly located: readonly LocatedEvent[];
  },
  found: DetailsByEvent,
): void {
  const { exact, later } = known.records;
  const updates = updatesIn(incomplete, known.located);
  for (const group of groupByTransaction(incomplete).values()) {
    const [first] = group;
    const input = first && known.inputs.get(first.event.txHash);
    const calls = first && input ? findForwardedCalls(input, first.reader.selector) : [];
    const matched = matchCallsToEvents(group, calls, (call, { event, reader }) => {
      const record = exact.get(event) ?? later.get(event);
      if (!record || !reader.mutable || !reader.callMatches(call, event)) return false;
      // An update in the same block replaces the mutable fields before any reader sees them.
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
  incomplete: readonly IncompleteEvent[],
  located: readonly LocatedEvent[],
): ReadonlySet<string> {
  const updates = new Set<string>();
  const byContract = new Map(incomplete.map(({ event, reader }) => [event.address, reader]));
  for (const { event } of located) {
    const reader = byContract.get(event.address);
    if (reader?.mutable?.eventName === event.name) updates.add(recordKey(event, reader));
  }
  return updates;
}

function recordKey(event: DecodedEvent, reader: DetailsReader<unknown>): string {
  return `${event.blockNumber} ${event.address} ${reader.encodeStateCall(event)}`;
}

async function readDetails(
  located: readonly LocatedEvent[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlyMap<DecodedEvent, Hex>> {
  const found: DetailsByEvent = new Map();
  const incomplete = located.flatMap(({ log, event }): IncompleteEvent[] =>
    event.rule.details ? [{ log, event, reader: event.rule.details }] : [],
  );
  const unresolved = () => incomplete.filter(({ event }) => !found.has(event));
  if (incomplete.length === 0) return found;

  const search = { reads, found, signal };
  const inputs = await matchDirectCalls(incomplete, search);
  await readImmutableRecords(unresolved(), search);
  const records = await readRecords(unresolved(), search);
  matchForwardedCalls(unresolved(), { inputs, records, located }, found);
  const [missing] = unresolved();
  if (missing) throw stateMissing(missing);
  return found;
}

/** A direct call emits its event once; a transaction with several events called the contract through another one. */
async function matchDirectCalls(
  incomplete: readonly IncompleteEvent[],
  { reads, found, signal }: DetailsSearch,
): Promise<ReadonlyMap<Hex, Hex>> {
  const alone = [...groupByTransaction(incomplete).values()].flatMap((group) =>
    group.length === 1 ? group : [],
  );
  const needed = [...alone, ...incomplete.filter(({ reader }) => reader.mutable)];
  const transactions = await reads.readTransactions(
    [...new Set(needed.map(({ event }) => event.txHash))],
    signal,
  );
  for (const { event, reader } of alone) {
    const transaction = transactions.get(event.txHash);
    // The fold decodes it.
    if (transaction?.to === event.address && transaction.input.startsWith(reader.selector)) {
      found.set(event, encodeCallDetails(transaction.input));
    }
  }
  return new Map([...transactions].map(([hash, { input }]) => [hash, input]));
}

/** Immutable records can be read exactly at a later block, whose state every node has. */
async function readImmutableRecords(
  incomplete: readonly IncompleteEvent[],
  search: DetailsSearch,
): Promise<void> {
  const immutable = incomplete.filter(({ reader }) => !reader.mutable);
  const { records } = await laterRecordsOf(immutable, search);
  for (const [event, record] of records) search.found.set(event, encodeStateDetails(record));
}

/**
 * The records as far as nodes still have them; traced calls need none. While a node that may have the state at the
 * block fails, only certain sources count: its failure is thrown if only a forwarded call would be left.
 */
async function readRecords(
  incomplete: readonly IncompleteEvent[],
  search: DetailsSearch,
): Promise<ContractRecords> {
  const { reads, found, signal } = search;
  let failure: Fault | null = null;
  const exact = await recordsOf(incomplete, reads.callAtBlocks, signal).catch((error): DetailsByEvent => {
    if (signal.aborted || !(error instanceof Fault)) throw error;
    failure = error;
    return new Map();
  });
  const pruned = incomplete.filter(({ event }) => !exact.has(event));
  const { at, records: later } = await laterRecordsOf(pruned, search);
  const readable = pruned.filter(({ event }) => later.has(event));
  const unchanged = at ? await unchangedUntil(at, readable, search) : new Set();
  for (const [event, record] of later) if (unchanged.has(event)) exact.set(event, record);
  const changed = pruned.filter(({ event }) => !exact.has(event));
  await matchTracedCalls(changed, search);
  if (failure && changed.some(({ event }) => !found.has(event))) throw failure;
  return { exact, later };
}

/** The events whose record no later event has changed, up to the block of the read state. */
async function unchangedUntil(
  at: BlockId,
  incomplete: readonly IncompleteEvent[],
  { reads, signal }: DetailsSearch,
): Promise<ReadonlySet<DecodedEvent>> {
  const queries = incomplete.flatMap(({ log, event, reader: { mutable } }) =>
    mutable
      ? [{ address: event.address, topics: mutable.encodeTopics(event), fromBlock: log.blockNumber, event }]
      : [],
  );
  const changes = queries.length === 0 ? [] : await reads.haveChanged(queries, at, signal);
  return new Set(queries.flatMap(({ event }, index) => (changes[index] === false ? [event] : [])));
}

async function laterRecordsOf(
  incomplete: readonly IncompleteEvent[],
  { reads, signal }: DetailsSearch,
): Promise<{ readonly at: BlockId | null; readonly records: DetailsByEvent }> {
  let at: BlockId | null = null;
  const read: DetailReads["callAtBlocks"] = async (calls) => {
    const later = await reads.callAtLaterBlock(calls, signal);
    at = later.at;
    return later.results;
  };
  const records = await recordsOf(incomplete, read, signal);
  return { at, records };
}

async function recordsOf(
  incomplete: readonly IncompleteEvent[],
  read: DetailReads["callAtBlocks"],
  signal: AbortSignal,
): Promise<DetailsByEvent> {
  const records: DetailsByEvent = new Map();
  if (incomplete.length === 0) return records;
  const outputs = await read(
    incomplete.map(({ log, event, reader }) => ({
      to: event.address,
      data: reader.encodeStateCall(event),
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
    })),
    signal,
  );
  for (const [index, { event, reader }] of incomplete.entries()) {
    const output = outputs[index];
    const record = output ? reader.normalizeRecord(output, event) : null;
    if (record) records.set(event, record);
  }
  return records;
}

function stateMissing({ event }: IncompleteEvent): Fault {
  return new Fault(
    "NODE_STATE_MISSING",
    `What ${event.contract}.${event.name} leaves out in transaction ${event.txHash} of block ${event.blockNumber} is in no ` +
      "state that the nodes of RPC_URL still have, and the transaction's input does not show it. Add an archive node, or a " +
      "node that offers debug_traceTransaction for this block.",
  );
}

/** Events of one kind, contract and transaction, in the order they were emitted. */
function groupByTransaction(incomplete: readonly IncompleteEvent[]) {
  return groupBy(incomplete, ({ event: { txHash, address, name } }) => `${txHash}${address}${name}`);
}
