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
