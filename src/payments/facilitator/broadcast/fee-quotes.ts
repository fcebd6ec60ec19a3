// What nodes say a transaction costs now, each asked on its own so that one can be held against another.
import type { PublicClient } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import type { FeeQuote } from "./fee-limits.ts";

// Below the block time of every chain served: a burst of payments shares one read.
const CACHE_MS = 1_000;

// Nodes respond within a few hundred milliseconds; payments are sent one after another and wait for this.
const OTHERS_MS = 500;

/** Asks each client on its own; one that is much slower than the first is left out. Throws where none responds. */
export function createFeeQuoteReader(
  clients: readonly PublicClient[],
  clock: Clock,
): () => Promise<FeeQuote> {
  let latest: { readonly quote: FeeQuote; readonly atMs: number } | null = null;
  let underWay: Promise<FeeQuote> | null = null;

  async function readQuote(): Promise<FeeQuote> {
    const heard: NodeQuote[] = [];
    const reads = clients.map(async (client) => {
      heard.push(await quoteOf(client));
    });
    const all = Promise.allSettled(reads);
    await Promise.any(reads).catch(({ errors }: AggregateError) => {
      throw errors[0] ?? new Error("no node is configured");
    });
    const waiting = new AbortController();
    await Promise.race([all, clock.sleep(OTHERS_MS, waiting.signal).catch(() => undefined)]);
    waiting.abort();
    const tips = heard.map(({ priorityFeePerGas }) => priorityFeePerGas);
    return {
      baseFeesPerGas: heard.map(({ baseFeePerGas }) => baseFeePerGas),
      priorityFeePerGas: tips.reduce((lowest, tip) => (tip < lowest ? tip : lowest)),
    };
  }

  async function refresh(): Promise<FeeQuote> {
    try {
      const quote = await readQuote();
      latest = { quote, atMs: clock.nowMs() };
      return quote;
    } finally {
      // A failed read is not shared with later payments.
      underWay = null;
    }
  }

  return async () => {
    if (latest !== null && clock.nowMs() - latest.atMs <= CACHE_MS) return latest.quote;
    underWay ??= refresh();
    return underWay;
  };
}

type NodeQuote = { readonly baseFeePerGas: bigint; readonly priorityFeePerGas: bigint };

async function quoteOf(client: PublicClient): Promise<NodeQuote> {
  const [{ baseFeePerGas }, priorityFeePerGas] = await Promise.all([
    client.getBlock(),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  if (typeof baseFeePerGas !== "bigint") throw new Error("the node names no base fee");
  return { baseFeePerGas, priorityFeePerGas };
}
