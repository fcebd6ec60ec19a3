// The nodes that look at a range of history a second time: how long one that fails is waited for, and which are too narrow.

import { RpcError } from "../rpc/errors.ts";
import type { PinnedRpc, Rpc, RpcCallOptions } from "../rpc/types.ts";

export type SecondaryProviders = {
  /** The provider does not take ranges of this size: it is left out for a while. */
  skipTemporarily(provider: number): void;
  /** Runs the work on a provider that is neither excluded nor left out; null where there is none, or none responds. */
  runOnAnother<T>(
    rpc: Rpc,
    excluded: readonly number[],
    work: (node: PinnedRpc) => Promise<T>,
    options: RpcCallOptions,
  ): Promise<T | null>;
};

// A restart, a deployment or a used-up allowance per minute is over by then. One rest more may be waited for at the end.
const WAIT_MS_MAX = 60_000;
// While an outage lasts: a node that fails now and then is heard between two failures, and one that is gone for hours
// makes a range cost a few seconds more.
const OUTAGE_WAIT_MS_MAX = 15_000;
// Rests double up to half a minute, so ten failures fill the time; a few more are for those that rest for less.
const ATTEMPTS_MAX = 15;
// A node that refuses ranges of this size will refuse the next ones too; one that only hung deserves another chance.
const RANGES_LEFT_OUT = 100;

/**
 * One outage is waited for at length once: while it lasts, later ranges wait for the end of a short rest only. For one
 * chain, so that a new stream does not wait for the same outage again.
 */
export function createSecondaryProviders(): SecondaryProviders {
  /** For how many ranges more, by provider. */
  const narrow = new Map<number, number>();
  let isOutage = false;
  return {
    skipTemporarily: (provider) => narrow.set(provider, RANGES_LEFT_OUT),
    async runOnAnother(rpc, excluded, work, options) {
      const without = new Set([...excluded, ...narrow.keys()]);
      for (const [provider, ranges] of narrow) {
        if (ranges > 1) narrow.set(provider, ranges - 1);
        else narrow.delete(provider);
      }
      const others = rpc.providers().filter((_, index) => !without.has(index)).length;
      if (others === 0) return null;
      const patience = isOutage
        ? { attemptsMax: others + 1, waitMsMax: OUTAGE_WAIT_MS_MAX }
        : { attemptsMax: ATTEMPTS_MAX, waitMsMax: WAIT_MS_MAX };
      try {
        const found = await rpc.pinned(work, { ...options, ...patience, exclude: [...without] });
        isOutage = false;
        return found;
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof RpcError)) throw error;
        isOutage = true;
        return null;
      }
    },
  };
}
