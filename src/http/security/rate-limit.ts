// A token bucket per client and minute: even refill, one number per client, bounded memory.
import type { Clock } from "../../lib/clock.ts";

export type RateLimiter = {
  /** Takes units, 1 by default; returns how many milliseconds too early the client is, 0 if it may proceed. */
  take(client: string, units?: number): number;
  /** Returns the units of `taken` that were not used. */
  release(client: string, taken: number, used: number): void;
};

const MINUTE_MS = 60_000;
// About ten megabytes. A client evicted by so many others starts with a full bucket again.
const CLIENTS_MAX = 100_000;

/** A client may use a whole minute at once; after that it gets a unit every `60 / perMinute` seconds. */
export function createRateLimiter(options: {
  readonly perMinute: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly clientsMax?: number;
}): RateLimiter {
  const { perMinute, clock, clientsMax = CLIENTS_MAX } = options;
  const interval = MINUTE_MS / perMinute;
  // When the bucket of each client will be full again; the least recently seen client comes first.
  const fullAt = new Map<string, number>();

  // At most a minute ahead, even if the wall clock is set back.
  const fullAtOf = (client: string, now: number) =>
    Math.min(Math.max(fullAt.get(client) ?? now, now), now + MINUTE_MS);

  function setFullAt(client: string, ms: number): void {
    fullAt.delete(client);
    if (fullAt.size >= clientsMax) {
      for (const oldest of fullAt.keys()) {
        fullAt.delete(oldest);
        break;
      }
    }
    fullAt.set(client, ms);
  }

  return {
    take(client, units = 1) {
      const now = clock.nowMs();
      const current = fullAtOf(client, now);
      // More units than a minute has cost a whole minute: otherwise they could never pass.
      const cost = interval * Math.min(units, perMinute);
      const earlyMs = current + cost - (now + MINUTE_MS);
      // Rounding errors of floats do not count as early.
      const isAllowed = earlyMs < 0.001;
      setFullAt(client, isAllowed ? current + cost : current);
      return isAllowed ? 0 : earlyMs;
    },
    release(client, taken, used) {
      const unused = Math.min(taken, perMinute) - used;
      if (unused > 0) setFullAt(client, fullAtOf(client, clock.nowMs()) - interval * unused);
    },
  };
}
