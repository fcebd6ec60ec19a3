// A transaction in plain words: every event of the protocol in it, in the order it was logged.
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import { PAGE_BYTES_MAX } from "../schema/reads/record.ts";
import type { LogDecoder } from "./decode/logs.ts";

export type TransactionExplanation = {
  readonly tx_hash: Hex;
  readonly block_number: string;
  readonly summary: string;
  readonly events: readonly {
    readonly eventName: string;
    readonly args: Readonly<Record<string, string | boolean>>;
    readonly description: string;
  }[];
};

// What an explanation has beside its events: the hash, the block, and the words around the summary.
const FRAME_BYTES = 1_024;

/**
 * Null where none of the logs is an event of the protocol. Events that would exceed the limit of bytes are left out,
 * but never the first; `logCount` is how many logs the transaction has, where not all of them are given.
 */
export function explainLogs(
  txHash: Hex,
  logs: readonly ChainLog[],
  decoder: LogDecoder,
  logCount = logs.length,
): TransactionExplanation | null {
  const events: TransactionExplanation["events"][number][] = [];
  let bytes = FRAME_BYTES;
  let looked = 0;
  for (const log of logs) {
    const event = decoder.decode(log, BigInt(log.blockTimestamp));
    if (event) {
      const told = { eventName: event.name, args: plain(event.args), description: event.rule.explain(event) };
      // The summary repeats the description, with a separator.
      bytes += bytesOf(told) + bytesOf(told.description) + 2;
      if (bytes > PAGE_BYTES_MAX && events.length > 0) break;
      events.push(told);
    }
    looked += 1;
  }
  const [first] = logs;
  if (!first || events.length === 0) return null;
  const told = events.map(({ description }) => description).join("; ");
  const rest = logCount - looked;
  return {
    tx_hash: txHash,
    block_number: String(first.blockNumber),
    summary:
      rest === 0
        ? `Transaction contained ${events.length} event(s): ${told}.`
        : `Transaction contained more than is shown here, the first ${events.length} event(s): ${told}. The ${rest} log(s) after them are left out because of their size.`,
    events,
  };
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;

// Integers as text, whatever their width, so that a client never has to ask which of them fit a number.
function plain(args: Readonly<Record<string, unknown>>): Record<string, string | boolean> {
  const told: Record<string, string | boolean> = {};
  for (const name of Object.keys(args)) {
    const value = args[name];
    told[name] = typeof value === "boolean" ? value : String(value);
  }
  return told;
}
