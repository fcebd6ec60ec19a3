// Reads of nodes before anything is paid, for names and blocks that requests give: limited per client, and shared fairly.
import { createRateLimiter } from "../http/security/request-guard.ts";
import type { Clock } from "../lib/clock.ts";
import { createFairLimit } from "../lib/concurrency-limit.ts";
import { FairShares } from "../lib/fair-shares.ts";
import { Fault } from "../lib/fault.ts";

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
  const { perMinute, perClientPerMinute } = FREE_READ_LIMITS;
  const perClient = createRateLimiter({ perMinute: perClientPerMinute, clock });
  // A second read in a minute leaves 49 first reads to others.
  const shares = new FairShares({ perMinute, perClientPerMinute, clock });
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
