// The load of reads: each has a cost that is known before it begins, and only so much is read at once or waits.
import { CostLimit, tooMuchWaits } from "../lib/concurrency-limit.ts";
import { Deadline } from "../lib/deadline.ts";
import type { SnapshotReader } from "./snapshot.ts";
import type { PortfolioChain } from "./types.ts";

// In milliseconds of processor time. A snapshot of a chain with 1,000 tokens takes 20, of which half are for the chain
// itself; an exposure counts like a snapshot.
const CHAIN_COST = 10;
const TOKENS_PER_COST = 100;

// Fifty reads of one chain with 1,000 tokens: nodes that take a second each leave no core idle.
const RUNNING_MAX = 1_000;
// Five seconds of the one core of a process, and of slow nodes more: a read waits no longer than `WAIT_MS_MAX`.
const WAITING_MAX = 5_000;
const WAIT_MS_MAX = 10_000;
// Chains that one client has read at once, or waits for: a quarter of all with 1,000 tokens.
const CHAINS_PER_CLIENT_MAX = 75;

export class ReadLoad {
  readonly #limit: CostLimit;
  readonly #chains: ReadonlyMap<string, PortfolioChain>;
  readonly #waitMsMax: number;
  readonly #chainsByClient = new Map<string, number>();

  constructor(
    chains: ReadonlyMap<string, PortfolioChain>,
    { runningMax = RUNNING_MAX, waitingMax = WAITING_MAX, waitMsMax = WAIT_MS_MAX } = {},
  ) {
    this.#chains = chains;
    this.#waitMsMax = waitMsMax;
    this.#limit = new CostLimit({ runningMax, waitingMax });
  }

  /** Runs a request that reads so many chains; throws OVERLOADED beyond the share of its client. */
  async runFor<T>(client: string, chainCount: number, act: () => Promise<T>): Promise<T> {
    const before = this.#chainsByClient.get(client) ?? 0;
    if (before > 0 && before + chainCount > CHAINS_PER_CLIENT_MAX) throw tooMuchWaits();
    this.#chainsByClient.set(client, before + chainCount);
    try {
      return await act();
    } finally {
      const left = (this.#chainsByClient.get(client) ?? 0) - chainCount;
      if (left > 0) this.#chainsByClient.set(client, left);
      else this.#chainsByClient.delete(client);
    }
  }

  /** Runs a read of these chains when its turn comes; throws OVERLOADED if too much waits, or if it has waited too long. */
  async run<T>(slugs: readonly string[], signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const cost = slugs.reduce((sum, slug) => sum + this.#costOf(slug), 0);
    const waiting = new Deadline(this.#waitMsMax, signal);
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      waiting.end();
      return read();
    };
    try {
      return await this.#limit.run(cost, waiting.signal, begin);
    } catch (error) {
      throw !hasBegun && waiting.isLate ? tooMuchWaits() : error;
    } finally {
      waiting.end();
    }
  }

  /** A whole number: sums of fractions would leave an idle limit with some cost. */
  #costOf(slug: string): number {
    return CHAIN_COST + Math.ceil((this.#chains.get(slug)?.chain.tokens.size ?? 0) / TOKENS_PER_COST);
  }
}

/** The same reader within the load; a difference reads twice and counts twice. */
export function limitReads(reader: SnapshotReader, load: ReadLoad): SnapshotReader {
  return { read: (query, signal) => load.run(query.slugs, signal, () => reader.read(query, signal)) };
}
