// Details from calls that other contracts made: as a node traces them, or as the transaction's input tells to make them.
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";
import type { DecodedEvent } from "../decode/logs.ts";
import {
  type DetailReads,
  type Found,
  groupsOf,
  type Located,
  type Records,
  storedCall,
  storedState,
  type Wanting,
} from "./chain-reads.ts";
import { forwardedCalls, matchCalls } from "./forwarded-calls.ts";

/** Each effective call of the function emits one event: both in order, and as many, belong together. */
export async function takeTracedCalls(
  wanting: readonly Wanting[],
  reads: DetailReads,
  found: Found,
  signal: AbortSignal,
): Promise<void> {
  if (wanting.length === 0) return;
  const traces = await reads.traces([...new Set(wanting.map(({ event }) => event.txHash))], signal);
  for (const group of groupsOf(wanting).values()) {
    const [first] = group;
    if (!first) continue;
    const calls = (traces.get(first.event.txHash) ?? []).filter(
      ({ to, input }) => to === first.event.address && input.startsWith(first.reader.selector),
    );
    const fits = group.every(({ event, reader }, i) => reader.callFits(calls[i]?.input ?? "0x", event));
    if (calls.length !== group.length || !fits) continue;
    group.forEach(({ event }, i) => {
      const call = calls[i];
      if (call) found.set(event, storedCall(call.input));
    });
  }
}

/**
 * A forwarded call proves nothing by itself: the event does not commit to its details, and input may hold a call that was
 * never made. It must agree with the record: with all of it where the record is as of the block, and where it is not,
 * with what of it never changes (D191).
 */
export function takeForwardedCalls(
  wanting: readonly Wanting[],
  known: {
    readonly inputs: ReadonlyMap<Hex, Hex>;
    readonly records: Records;
    readonly located: readonly Located[];
  },
  found: Found,
): void {
  const { exact, later } = known.records;
  const updates = updatesIn(wanting, known.located);
  for (const group of groupsOf(wanting).values()) {
    const [first] = group;
    const input = first && known.inputs.get(first.event.txHash);
    const calls = first && input ? forwardedCalls(input, first.reader.selector) : [];
    const matched = matchCalls(group, calls, (call, { event, reader }) => {
      const record = exact.get(event) ?? later.get(event);
      if (!record || !reader.changing || !reader.callFits(call, event)) return false;
      // An update in the same block replaces the rest before any reader can see it.
      const whole = exact.has(event) && !updates.has(recordKey(event, reader));
      return reader.changing.agrees(call, record, whole ? "all" : "lasting");
    });
    for (const each of group) {
      const [call, record] = [matched.get(each), exact.get(each.event)];
      if (call) found.set(each.event, storedCall(call));
      else if (record) found.set(each.event, storedState(record));
    }
  }
}

/** The records that a later event of the same block changes. */
function updatesIn(wanting: readonly Wanting[], located: readonly Located[]): ReadonlySet<string> {
  const updates = new Set<string>();
  const byContract = new Map(wanting.map(({ event, reader }) => [event.address, reader]));
  for (const { event } of located) {
    const reader = byContract.get(event.address);
    if (reader?.changing?.by === event.name) updates.add(recordKey(event, reader));
  }
  return updates;
}

function recordKey(event: DecodedEvent, reader: DetailsReader<unknown>): string {
  return `${event.blockNumber} ${event.address} ${reader.stateCall(event)}`;
}
