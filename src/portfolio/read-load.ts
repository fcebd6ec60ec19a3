// The load of reads: each has a cost that is known before it begins, and only so much is read at once or waits.
import { CostLimit } from "../lib/concurrency-limit.ts";
import type { SnapshotReader } from "./snapshot.ts";
import type { PortfolioChain } from "./types.ts";

// In milliseconds of processor time, measured: 20 for a chain with 1,000 tokens, of which half are for the chain itself.
const CHAIN_COST = 10;
const TOKENS_PER_COST = 100;

// Fifty reads of one chain with 1,000 tokens: nodes that take a second each leave no core idle.
const RUNNING_MAX = 1_000;
// Five seconds of the one core of a process: a request that waits longer gets its response too late to be settled.
const WAITING_MAX = 5_000;

export class ReadLoad {
  readonly #limit: CostLimit;
  readonly #chains: ReadonlyMap<string, PortfolioChain>;

  constructor(
    chains: ReadonlyMap<string, PortfolioChain>,
    { runningMax = RUNNING_MAX, waitingMax = WAITING_MAX } = {},
  ) {
    this.#chains = chains;
    this.#limit = new CostLimit({ runningMax, waitingMax });
  }

  /** Throws OVERLOADED if as much waits as may: called before a payment is looked at, so that nothing is done for it. */
  rejectIfFull(): void {
    this.#limit.rejectIfFull();
  }

  /** Runs a read of these chains when its turn comes; throws OVERLOADED if too much waits. */
  run<T>(slugs: readonly string[], signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const cost = slugs.reduce((sum, slug) => sum + this.#costOf(slug), 0);
    return this.#limit.run(cost, signal, read);
  }

  #costOf(slug: string): number {
    return CHAIN_COST + (this.#chains.get(slug)?.chain.tokens.size ?? 0) / TOKENS_PER_COST;
  }
}

/** The same reader within the load; a difference reads twice and counts twice. */
export function limitReads(reader: SnapshotReader, load: ReadLoad): SnapshotReader {
  return { read: (query, signal) => load.run(query.slugs, signal, () => reader.read(query, signal)) };
}
