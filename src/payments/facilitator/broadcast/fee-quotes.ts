// Quotes the present cost of a transaction, read from each node separately so that they can be compared.
import type { PublicClient } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import type { FeeQuote } from "./fees.ts";

// Below the block time of every chain we serve: a burst of payments shares one read.
const CACHE_MS = 1_000;

// Nodes respond within a few hundred milliseconds; payments are sent one after another and wait for this.
const OTHERS_MS = 500;

/** Reads from each client; leaves out one that is much slower than the first. Throws if none responds. */
export function createFeeQuoteReader(
  clients: readonly PublicClient[],
  clock: Clock,
): () => Promise<FeeQuote> {
  let latest: { readonly quote: FeeQuote; readonly atMs: number } | null = null;
  let inFlight: Promise<FeeQuote> | null = null;

  async function readQuote(): Promise<FeeQuote> {
    const quotes: NodeQuote[] = [];
    const reads = clients.map(async (client) => {
      quotes.push(await readNodeQuote(client));
    });
    const all = Promise.allSettled(reads);
    await Promise.any(reads).catch(({ errors }: AggregateError) => {
      throw errors[0] ?? new Error("no node is configured");
    });
    const waiting = new AbortController();
    await Promise.race([all, clock.sleep(OTHERS_MS, waiting.signal).catch(() => undefined)]);
    waiting.abort();
    const tips = quotes.map(({ priorityFeePerGas }) => priorityFeePerGas);
    return {
      baseFeesPerGas: quotes.map(({ baseFeePerGas }) => baseFeePerGas),
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
      inFlight = null;
    }
  }

  return async () => {
    if (latest !== null && clock.nowMs() - latest.atMs <= CACHE_MS) return latest.quote;
    inFlight ??= refresh();
    return inFlight;
  };
}

type NodeQuote = { readonly baseFeePerGas: bigint; readonly priorityFeePerGas: bigint };

async function readNodeQuote(client: PublicClient): Promise<NodeQuote> {
  const [{ baseFeePerGas }, priorityFeePerGas] = await Promise.all([
    client.getBlock(),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  if (typeof baseFeePerGas !== "bigint") throw new Error("the node reports no base fee");
  return { baseFeePerGas, priorityFeePerGas };
}
