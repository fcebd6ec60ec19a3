// One read for everyone who asks the same within a block: running reads are joined, finished ones handed out again.
import type { Clock } from "../lib/clock.ts";
import type { SnapshotQuery, SnapshotReader } from "./snapshot.ts";
import type { PortfolioSnapshot } from "./snapshot-types.ts";
import type { PortfolioChain } from "./types.ts";

// Where blocks are slow, prices still move: nobody gets an answer older than this.
const FRESH_MS_MAX = 5_000;
// A whale's snapshot takes a megabyte or so, and none is kept for longer than a few seconds.
const KEPT_MAX = 64;

type Read = { readonly answer: Promise<PortfolioSnapshot>; readonly stop: AbortController; askers: number };
type Kept = { readonly snapshot: PortfolioSnapshot; readonly freshUntilMs: number };

type SharingNeeds = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  readonly cacheEntriesMax?: number;
};

/** The same taker, asked once for all who want the same. Who leaves leaves alone; when all have left, the read stops. */
export function coalesceSnapshots(
  taker: SnapshotReader,
  { chains, clock, cacheEntriesMax: keptMax = KEPT_MAX }: SharingNeeds,
): SnapshotReader {
  const running = new Map<string, Read>();
  const kept = new Map<string, Kept>();

  const freshMs = (slugs: readonly string[]) =>
    Math.min(FRESH_MS_MAX, ...slugs.map((slug) => chains.get(slug)?.chain.blockTimeMs ?? 0));

  const keep = (key: string, fresh: Kept) => {
    const now = clock.nowMs();
    for (const [other, { freshUntilMs }] of kept) if (freshUntilMs <= now) kept.delete(other);
    if (fresh.freshUntilMs <= now) return;
    kept.delete(key);
    kept.set(key, fresh);
    for (const oldest of kept.keys()) {
      if (kept.size <= keptMax) break;
      kept.delete(oldest);
    }
  };

  const begin = (key: string, question: SnapshotQuery): Read => {
    const stop = new AbortController();
    // Counted from the start: the block was pinned then, however long the rest takes.
    const freshUntilMs = clock.nowMs() + freshMs(question.slugs);
    const forget = () => running.get(key) === read && running.delete(key);
    const answer = taker
      .read(question, stop.signal)
      .then((snapshot) => {
        keep(key, { snapshot, freshUntilMs });
        return snapshot;
      })
      .finally(forget);
    const read: Read = { answer, stop, askers: 0 };
    stop.signal.addEventListener("abort", forget, { once: true });
    running.set(key, read);
    return read;
  };

  return {
    async read(question, signal) {
      signal.throwIfAborted();
      const key = `${question.wallet} ${question.slugs.join(",")}`;
      const finished = kept.get(key);
      if (finished && clock.nowMs() < finished.freshUntilMs) return finished.snapshot;
      return join(running.get(key) ?? begin(key, question), signal);
    },
  };
}

async function join(read: Read, signal: AbortSignal): Promise<PortfolioSnapshot> {
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
  });
  signal.addEventListener("abort", leave, { once: true });
  read.askers += 1;
  try {
    return await Promise.race([read.answer, left]);
  } finally {
    signal.removeEventListener("abort", leave);
    read.askers -= 1;
    // Harmless for a read that is done; one that still runs has nobody left to run for.
    if (read.askers === 0) read.stop.abort(signal.reason);
  }
}
