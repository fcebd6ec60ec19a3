// Explains a transaction: every event of the protocol in it, in log order.
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import { PAGE_BYTES_MAX } from "../schema/reads/record.ts";
import type { LogDecoder } from "./decode/logs.ts";

type TransactionExplanation = {
  readonly tx_hash: Hex;
  readonly block_number: string;
  readonly summary: string;
  readonly events: readonly {
    readonly eventName: string;
    readonly args: Readonly<Record<string, string | boolean>>;
    readonly description: string;
  }[];
};

// The size of an explanation without its events: the hash, the block, and the frame of the summary.
const FRAME_BYTES = 1_024;

/**
 * Null where none of the logs is an event of the protocol. Omits events beyond the byte limit, but never the first;
 * `logCount` is the number of logs of the transaction, where `logs` has not all of them.
 */
export function explainLogs(
  txHash: Hex,
  logs: readonly ChainLog[],
  decoder: LogDecoder,
  logCount = logs.length,
): TransactionExplanation | null {
  const events: TransactionExplanation["events"][number][] = [];
  let bytes = FRAME_BYTES;
  let explainedCount = 0;
  for (const log of logs) {
    const event = decoder.decode(log, BigInt(log.blockTimestamp));
    if (event) {
      const explained = {
        eventName: event.name,
        args: formatArguments(event.args),
        description: event.rule.explain(event),
      };
      // The summary repeats the description, with a separator.
      bytes += bytesOf(explained) + bytesOf(explained.description) + 2;
      if (bytes > PAGE_BYTES_MAX && events.length > 0) break;
      events.push(explained);
    }
    explainedCount += 1;
  }
  const [first] = logs;
  if (!first || events.length === 0) return null;
  const descriptions = events.map(({ description }) => description).join("; ");
  const rest = logCount - explainedCount;
  return {
    tx_hash: txHash,
    block_number: String(first.blockNumber),
    summary:
      rest === 0
        ? `Transaction contained ${events.length} event(s): ${descriptions}.`
        : `Transaction contained more than is shown here, the first ${events.length} event(s): ${descriptions}. The ${rest} log(s) after them are left out because of their size.`,
    events,
  };
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;

// Integers of any width as text, so that clients need not know which ones fit a number.
function formatArguments(args: Readonly<Record<string, unknown>>): Record<string, string | boolean> {
  const formatted: Record<string, string | boolean> = {};
  for (const name of Object.keys(args)) {
    const value = args[name];
    formatted[name] = typeof value === "boolean" ? value : String(value);
  }
  return formatted;
}
