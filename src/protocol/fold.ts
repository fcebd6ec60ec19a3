// The protocol as the indexing loop uses it: completes logs with what events leave out, and folds them into rows.
import type { Hex } from "../kit/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { Change, Origin } from "../schema/change.ts";
import type { FoldInput, Need } from "../schema/domain.ts";
import { keyText, type Row, type Table } from "../schema/table.ts";
import { createLogDecoder, type DecodedEvent } from "./decode-logs.ts";
import type { Deployment } from "./deployment.ts";
import { type DetailReads, readDetails, readerOf } from "./read-details.ts";

export type DetailedLog = { readonly log: ChainLog; readonly details: Hex | null };

/** The rows during one batch. */
export type Rows = {
  load(needs: readonly Need[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: Origin): void;
};

export type Protocol = {
  detail(logs: readonly ChainLog[], signal: AbortSignal): Promise<readonly DetailedLog[]>;
  fold(logs: readonly DetailedLog[], rows: Rows): Promise<void>;
};

export function createProtocol(deployment: Deployment, reads: DetailReads): Protocol {
  const decoder = createLogDecoder(deployment);
  const decode = (log: ChainLog) => decoder.decode(log, BigInt(log.blockTimestamp));

  return {
    async detail(logs, signal) {
      // What is none of the protocol's events (a look-alike of an account's, say) is not kept at all.
      const events = logs.flatMap((log) => {
        const event = decode(log);
        return event ? [{ log, event }] : [];
      });
      const found = await readDetails(events, reads, signal);
      return events.map(({ log, event }) => ({ log, details: found.get(event) ?? null }));
    },
    async fold(logs, rows) {
      const events = logs.flatMap(({ log, details }) => {
        const event = decode(log);
        return event ? [{ event, details }] : [];
      });
      await rows.load(events.flatMap(({ event }) => event.rule.needs?.(event) ?? []));
      for (const { event, details } of events) foldEvent(event, details, rows);
    },
  };
}

function foldEvent(event: DecodedEvent, details: Hex | null, rows: Rows): void {
  const origin = { block_number: event.blockNumber, tx_hash: event.txHash, log_index: event.logIndex };
  const input = {
    ...event,
    details: readerOf(details),
    find: (table: Table, key: Row) => rows.find(table, keyText(table.key, key)),
  } as unknown as FoldInput<never>;
  try {
    for (const change of event.rule.fold(input)) rows.change(change, origin);
  } catch (cause) {
    const place = `log ${event.logIndex} of block ${event.blockNumber}`;
    throw new Error(`${event.contract}.${event.name}, ${place}, could not be folded`, { cause });
  }
}
