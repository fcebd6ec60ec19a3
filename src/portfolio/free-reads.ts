// Reads before anything is paid, for names, blocks and stored snapshots that requests give: limited per client, and shared fairly.
import { createRateLimiter } from "../http/security/request-guard.ts";
import type { Clock } from "../lib/clock.ts";
import { createFairLimit, FairShares } from "../lib/concurrency-limit.ts";
import { untilAborted } from "../lib/deadline.ts";
import { Fault, type FaultCode } from "../lib/fault.ts";
import type { PortfolioChain } from "./types.ts";

export type FreeReads = {
  /** Rejects with RATE_LIMITED beyond what a client has, and with OVERLOADED beyond its share of what all have. */
  run<T>(client: string, read: () => Promise<T>): Promise<T>;
};

/**
 * A read costs a node at most three requests, and nothing is paid for them. The search for the block of a time costs
 * about five, 21 on a chain with the most irregular times, and 42 if it fails at its end and begins again. It counts as
 * one read all the same: a difference between two times on five chains needs ten searches.
 */
export const FREE_READ_LIMITS = {
  /** Above what a person or an agent looks up before paying. */
  perClientPerMinute: 30,
  /**
   * Five reads in a second, whatever the number of clients: 15 requests to nodes, 25 if all are searches, and at worst
   * 210. A search sends its requests one after the other, so that `runningMax` of them ask nodes that take 100 ms for
   * at most 80.
   */
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
          `At most ${FREE_READ_LIMITS.perClientPerMinute} names, blocks and stored snapshots per minute per client; addresses are not limited by this.`,
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

type CheckServices = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly freeReads: FreeReads;
};

/** Rejects like the paid read of these blocks, as far as `checkFreely` can know it. A chain's blocks are checked in turn. */
export async function checkBlocks(
  { chains, freeReads }: CheckServices,
  /** Blocks by slug; those of one chain in ascending order, so that the first often proves the others. */
  blocks: readonly ReadonlyMap<string, number>[],
  client: string,
): Promise<void> {
  const checkChain = async (slug: string, chain: PortfolioChain) => {
    for (const each of blocks) {
      const number = each.get(slug);
      if (number === undefined || chain.canPin(number)) continue;
      await checkFreely({ freeReads, client }, (signal) => chain.pin(signal, number));
    }
  };
  await Promise.all([...chains].map(([slug, chain]) => checkChain(slug, chain)));
}

// As long as a client surely waits for a price; a healthy node needs a tenth of it.
const CHECK_MS_MAX = 3_000;

/** Errors that are the request's fault. */
const REQUEST_FAULTS: ReadonlySet<FaultCode> = new Set(["INPUT_INVALID", "STATE_UNAVAILABLE", "NOT_FOUND"]);

/**
 * Rejects if the check finds the request at fault. Outages, the end of the time and the limits of free reads do not
 * count: the paid read checks again and charges nothing.
 */
export async function checkFreely(
  { freeReads, client }: { readonly freeReads: FreeReads; readonly client: string },
  check: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_MS_MAX);
  try {
    await untilAborted(
      freeReads.run(client, () => check(signal)),
      signal,
    );
  } catch (error) {
    if (error instanceof Fault && REQUEST_FAULTS.has(error.code)) throw error;
  }
}
