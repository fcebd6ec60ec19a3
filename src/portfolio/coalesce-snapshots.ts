// Single flight for snapshots: equal requests share one running read, and its result until the next block.
import type { Clock } from "../lib/clock.ts";
import { untilAborted } from "../lib/deadline.ts";
import type { PortfolioSnapshot } from "../schema/portfolio/snapshot.ts";
import type { SnapshotQuery, SnapshotReader } from "./snapshot.ts";
import type { PortfolioChain } from "./types.ts";

// Prices move between slow blocks: this is the maximum age of a shared snapshot on any chain.
const FRESH_MS_MAX = 5_000;
// Every chain of ours has made a block final by then, so that no other can take its number.
const FINAL_AFTER_MS = 60 * 60_000;
// It never changes; longer would only fill the cache.
const FINAL_FRESH_MS = 60_000;
// A large wallet's snapshot takes about a megabyte, and each is cached for a few seconds at most.
const CACHE_ENTRIES_MAX = 64;

type RunningRead = {
  readonly result: Promise<PortfolioSnapshot>;
  readonly controller: AbortController;
  waiters: number;
};
type CachedSnapshot = { readonly snapshot: PortfolioSnapshot; readonly freshUntilMs: number };

type CoalescingOptions = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  readonly cacheEntriesMax?: number;
};

/** A reader whose equal requests share the work of another one. A read is aborted once all its waiters have aborted. */
export class SnapshotCoalescer implements SnapshotReader {
  readonly #reader: SnapshotReader;
  readonly #chains: ReadonlyMap<string, PortfolioChain>;
  readonly #clock: Clock;
  readonly #cacheEntriesMax: number;
  readonly #running = new Map<string, RunningRead>();
  /** Oldest first. */
  readonly #cached = new Map<string, CachedSnapshot>();

  constructor(
    reader: SnapshotReader,
    { chains, clock, cacheEntriesMax = CACHE_ENTRIES_MAX }: CoalescingOptions,
  ) {
    this.#reader = reader;
    this.#chains = chains;
    this.#clock = clock;
    this.#cacheEntriesMax = cacheEntriesMax;
  }

  async read(query: SnapshotQuery, signal: AbortSignal): Promise<PortfolioSnapshot> {
    signal.throwIfAborted();
    const key = keyOf(query);
    const cached = this.#cached.get(key);
    if (cached && this.#clock.nowMs() < cached.freshUntilMs) return cached.snapshot;
    return waitFor(this.#running.get(key) ?? this.#start(key, query), signal);
  }

  #start(key: string, query: SnapshotQuery): RunningRead {
    const controller = new AbortController();
    const startMs = this.#clock.nowMs();
    const forget = () => this.#running.get(key) === read && this.#running.delete(key);
    const result = this.#reader
      .read(query, controller.signal)
      .then((snapshot) => {
        // Counted from the start, because the block is pinned at the start of the read.
        this.#store(key, { snapshot, freshUntilMs: startMs + this.#freshMs(query, snapshot) });
        return snapshot;
      })
      .finally(forget);
    const read: RunningRead = { result, controller, waiters: 0 };
    controller.signal.addEventListener("abort", forget, { once: true });
    this.#running.set(key, read);
    return read;
  }

  #freshMs({ slugs, blocks }: SnapshotQuery, { timestamp, failedChains }: PortfolioSnapshot): number {
    // The next request may find the chain that this one lacks.
    if (failedChains !== undefined) return 0;
    if (blocks && this.#clock.nowMs() - Date.parse(timestamp) > FINAL_AFTER_MS) return FINAL_FRESH_MS;
    return Math.min(FRESH_MS_MAX, ...slugs.map((slug) => this.#chains.get(slug)?.chain.blockTimeMs ?? 0));
  }

  #store(key: string, entry: CachedSnapshot): void {
    const now = this.#clock.nowMs();
    for (const [other, { freshUntilMs }] of this.#cached) {
      if (freshUntilMs <= now) this.#cached.delete(other);
    }
    if (entry.freshUntilMs <= now) return;
    this.#cached.delete(key);
    this.#cached.set(key, entry);
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= this.#cacheEntriesMax) break;
      this.#cached.delete(oldest);
    }
  }
}

function keyOf({ wallet, slugs, blocks, partial, figuresOnly }: SnapshotQuery): string {
  return `${wallet} ${partial ? "partial " : ""}${figuresOnly ? "figures " : ""}${slugs.map((slug) => `${slug}@${blocks?.get(slug) ?? "newest"}`).join(",")}`;
}

async function waitFor(read: RunningRead, signal: AbortSignal): Promise<PortfolioSnapshot> {
  read.waiters += 1;
  try {
    return await untilAborted(read.result, signal);
  } finally {
    read.waiters -= 1;
    // Only of a running read: the last waiter has left before its end.
    if (read.waiters === 0 && signal.aborted) read.controller.abort(signal.reason);
  }
}
