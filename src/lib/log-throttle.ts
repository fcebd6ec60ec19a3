// Log lines that could repeat thousands of times a second: the first at once, the others as one line with their count.
import { type Clock, systemClock } from "./clock.ts";

export type LogThrottle = {
  /** Calls `write` at once with 0, or, while the same key repeats, once per interval with how many more came. */
  report(key: string, write: (repeated: number) => void): void;
  /** Reports what was counted and stops. */
  close(): void;
};

// Often enough to see that a fault goes on, seldom enough that a day of it is ten thousand lines.
const INTERVAL_MS = 10_000;
// Keys may be made of error messages, and those of what a client sent.
const KEYS_MAX = 100;
const OTHERS = "others";

type Counted = { count: number; write: (repeated: number) => void };

export function createLogThrottle(clock: Pick<Clock, "sleep"> = systemClock): LogThrottle {
  const counted = new Map<string, Counted>();
  const closing = new AbortController();
  let isWatching = false;

  /** What was not repeated since the last time is forgotten, so that the next of it is written at once. */
  function flush(): void {
    for (const [key, each] of counted) {
      if (each.count === 0) counted.delete(key);
      else each.write(each.count);
      each.count = 0;
    }
  }

  async function watch(): Promise<void> {
    isWatching = true;
    while (counted.size > 0) {
      await clock.sleep(INTERVAL_MS, closing.signal);
      flush();
    }
    isWatching = false;
  }

  return {
    report(each, write) {
      const key = counted.has(each) || counted.size < KEYS_MAX ? each : OTHERS;
      const before = counted.get(key);
      if (before) {
        before.count += 1;
        before.write = write;
        return;
      }
      write(0);
      if (closing.signal.aborted) return;
      counted.set(key, { count: 0, write });
      // Only closing ends the wait early, and close() has flushed by then.
      if (!isWatching) watch().catch(() => undefined);
    },
    close() {
      flush();
      counted.clear();
      closing.abort();
    },
  };
}
