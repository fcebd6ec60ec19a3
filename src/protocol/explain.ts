// A transaction in plain words: every event of the protocol in it, in the order it was logged.
import type { Hex } from "../kit/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { LogDecoder } from "./decode-logs.ts";

export type Explanation = {
  readonly tx_hash: Hex;
  readonly block_number: string;
  readonly summary: string;
  readonly events: readonly {
    readonly eventName: string;
    readonly args: Readonly<Record<string, string | boolean>>;
    readonly description: string;
  }[];
};

/** Null where none of the logs is an event of the protocol. */
export function explain(txHash: Hex, logs: readonly ChainLog[], decoder: LogDecoder): Explanation | null {
  const events: Explanation["events"][number][] = [];
  for (const log of logs) {
    const event = decoder.decode(log, BigInt(log.blockTimestamp));
    if (!event) continue;
    events.push({ eventName: event.name, args: plain(event.args), description: event.rule.explain(event) });
  }
  const [first] = logs;
  if (!first || events.length === 0) return null;
  const told = events.map(({ description }) => description).join("; ");
  return {
    tx_hash: txHash,
    block_number: String(first.blockNumber),
    summary: `Transaction contained ${events.length} event(s): ${told}.`,
    events,
  };
}

// Integers as text, whatever their width, so that a client never has to ask which of them fit a number.
function plain(args: Readonly<Record<string, unknown>>): Record<string, string | boolean> {
  const told: Record<string, string | boolean> = {};
  for (const name of Object.keys(args)) {
    const value = args[name];
    told[name] = typeof value === "boolean" ? value : String(value);
  }
  return told;
}
