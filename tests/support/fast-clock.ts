// A clock for tests in which waiting takes no time: a sleep moves the clock instead of the world.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/lib/clock.ts";

export type FastClock = Clock & { readonly sleptMs: readonly number[] };

export function createFastClock(startMs = 1_700_000_000_000): FastClock {
  let nowMs = startMs;
  const sleptMs: number[] = [];
  return {
    sleptMs,
    nowMs: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      nowMs += ms;
      sleptMs.push(ms);
      // Other work gets its turn, as it would during a real wait.
      await nextTurn();
      signal?.throwIfAborted();
    },
  };
}

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
