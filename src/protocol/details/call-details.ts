// Details from calls that other contracts made: as a node traces them, or as the transaction's input tells to make them.
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";
import {
  type ContractRecords,
  type DetailReads,
  type DetailsByEvent,
  encodeCallDetails,
  encodeStateDetails,
  groupByTransaction,
  type IncompleteEvent,
  type LocatedEvent,
} from "./chain-reads.ts";
import { findForwardedCalls, matchCallsToEvents } from "./forwarded-calls.ts";

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
