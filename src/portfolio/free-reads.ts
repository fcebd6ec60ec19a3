// Reads of nodes before anything is paid, for names and blocks that requests give: limited per client, and shared fairly.
import { createRateLimiter } from "../http/security/request-guard.ts";
import { widestNetworkOf } from "../lib/client-networks.ts";
import type { Clock } from "../lib/clock.ts";
import { createFairLimit } from "../lib/concurrency-limit.ts";
import { Fault } from "../lib/fault.ts";
import { LruMap } from "../lib/lru-map.ts";

export type FreeReads = {
  /** Rejects with RATE_LIMITED beyond what a client has, and with OVERLOADED beyond its share of what all have. */
  run<T>(client: string, read: () => Promise<T>): Promise<T>;
};

/** A read costs a node at most three requests, and nothing is paid for them. */
export const FREE_READ_LIMITS = {
  /** Above what a person or an agent looks up before paying. */
  perClientPerMinute: 30,
  /** 15 requests to nodes in a second, whatever the number of clients. */
  perMinute: 300,
  runningMax: 8,
  runningPerClientMax: 2,
  waitingMax: 64,
  waitingPerClientMax: 8,
} as const;

export function createFreeReads(clock: Clock): FreeReads {
  const perClient = createRateLimiter({ perMinute: FREE_READ_LIMITS.perClientPerMinute, clock });
  const shares = new FairShares(clock);
  const slots = createFairLimit({
    runningMax: FREE_READ_LIMITS.runningMax,
    runningPerKeyMax: FREE_READ_LIMITS.runningPerClientMax,
    waitingMax: FREE_READ_LIMITS.waitingMax,
    waitingPerKeyMax: FREE_READ_LIMITS.waitingPerClientMax,
  });
  return {
    async run(client, read) {
      const earlyMs = perClient.take(client);
      if (earlyMs > 0) {
        throw new Fault(
          "RATE_LIMITED",
          `At most ${FREE_READ_LIMITS.perClientPerMinute} names and blocks per minute per client; addresses are not limited by this.`,
          { retryAfterSeconds: Math.ceil(earlyMs / 1_000) },
        );
      }
      const shareEarlyMs = shares.take(client);
      if (shareEarlyMs > 0) {
        perClient.release(client, 1, 0);
        throw new Fault("OVERLOADED", "Too many names are being resolved; send the address, or try again.", {
          retryAfterSeconds: Math.ceil(shareEarlyMs / 1_000),
        });
      }
      return slots.run(client, read);
    },
  };
}

const MINUTE_MS = 60_000;
const REFILL_MS = MINUTE_MS / FREE_READ_LIMITS.perMinute;
// One client alone gets all that a client may have. A second read in a minute leaves 49 first reads to others.
const LEFT_TO_OTHERS = 0.9 * FREE_READ_LIMITS.perMinute;
// About a megabyte. A network evicted by so many others counts as new.
const NETWORKS_MAX = 10_000;

/**
 * One bucket for all. The more a network has taken, the more it must leave, so that the busiest stop first and a newcomer
 * finds something while fifty others take all they can.
 */
class FairShares {
  readonly #clock: Pick<Clock, "nowMs">;
  #left: number = FREE_READ_LIMITS.perMinute;
  #leftAtMs: number;
  /** What each network took, fading over about a minute. */
  readonly #taken = new LruMap<string, { readonly reads: number; readonly atMs: number }>(NETWORKS_MAX);

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
    this.#leftAtMs = clock.nowMs();
  }

  /** Returns how many milliseconds too early the client is, 0 if it may read. */
  take(client: string): number {
    const now = this.#clock.nowMs();
    const network = widestNetworkOf(client);
    const before = this.#taken.get(network);
    // A wall clock that is set back lets no time pass.
    const fade = before === undefined ? 0 : Math.exp(-Math.max(0, now - before.atMs) / MINUTE_MS);
    const taken = (before?.reads ?? 0) * fade;
    const refilled = Math.max(0, now - this.#leftAtMs) / REFILL_MS;
    this.#left = Math.min(FREE_READ_LIMITS.perMinute, this.#left + refilled);
    this.#leftAtMs = now;
    const needed = Math.max(1, LEFT_TO_OTHERS * Math.sqrt(taken / FREE_READ_LIMITS.perClientPerMinute));
    if (this.#left < needed) return (needed - this.#left) * REFILL_MS;
    this.#left -= 1;
    this.#taken.set(network, { reads: taken + 1, atMs: now });
    return 0;
  }
}
