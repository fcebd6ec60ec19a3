// What nodes say a transaction costs now, each asked on its own so that one can be held against another.
import type { PublicClient } from "viem";
import type { Clock } from "../../kit/clock.ts";
import type { FeeQuote } from "./fee-limits.ts";

// Below the block time of every chain served: a burst of payments shares one read.
const CACHE_MS = 1_000;

/** Asks each client on its own; throws where none of them responds. */
export function createFeeQuotes(clients: readonly PublicClient[], clock: Clock): () => Promise<FeeQuote> {
  let read: { readonly quote: Promise<FeeQuote>; readonly atMs: number } | null = null;

  async function readQuote(): Promise<FeeQuote> {
    const quotes = await Promise.allSettled(clients.map(quoteOf));
    const heard = quotes.flatMap((quote) => (quote.status === "fulfilled" ? [quote.value] : []));
    const [first, ...others] = heard.map(({ priorityFeePerGas }) => priorityFeePerGas);
    if (first === undefined) throw (quotes[0] as PromiseRejectedResult | undefined)?.reason;
    return {
      baseFeesPerGas: heard.map(({ baseFeePerGas }) => baseFeePerGas),
      priorityFeePerGas: others.reduce((lowest, tip) => (tip < lowest ? tip : lowest), first),
    };
  }

  return () => {
    const nowMs = clock.nowMs();
    if (read === null || nowMs - read.atMs > CACHE_MS) {
      const begun = { quote: readQuote(), atMs: nowMs };
      read = begun;
      // A failed read is not shared with later payments.
      begun.quote.catch(() => {
        if (read === begun) read = null;
      });
    }
    return read.quote;
  };
}

async function quoteOf(client: PublicClient) {
  const [{ baseFeePerGas }, priorityFeePerGas] = await Promise.all([
    client.getBlock(),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  if (typeof baseFeePerGas !== "bigint") throw new Error("the node names no base fee");
  return { baseFeePerGas, priorityFeePerGas };
}
