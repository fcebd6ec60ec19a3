// The nodes that look at a range of history a second time: how long one that fails is waited for, and which are too narrow.
import type { CallOptions, PinnedRpc, Rpc } from "./rpc/call.ts";
import { RpcError } from "./rpc/failure.ts";

export type OtherNodes = {
  /** Providers too narrow for a second look at such ranges. */
  readonly narrow: Set<number>;
  /** Runs the work on a provider that is not excluded and not narrow; null where there is none, or none responds. */
  ask<T>(
    rpc: Rpc,
    excluded: readonly number[],
    work: (node: PinnedRpc) => Promise<T>,
    options: CallOptions,
  ): Promise<T | null>;
};

// A restart, a deployment or a used-up allowance per minute is over by then. One rest more may be waited for at the end.
const WAIT_MS_MAX = 60_000;
// Rests double up to half a minute, so ten failures fill the time; a few more are for those that rest for less.
const ATTEMPTS_MAX = 15;

/**
 * One outage is waited for once: while it lasts, later ranges ask a node whose rest is over, and do not wait. For one
 * chain, so that a new stream does not wait for the same outage again.
 */
export function createOtherNodes(): OtherNodes {
  const narrow = new Set<number>();
  let isOutage = false;
  return {
    narrow,
    async ask(rpc, excluded, work, options) {
      const without = new Set([...excluded, ...narrow]);
      const others = rpc.providers().filter((_, index) => !without.has(index)).length;
      if (others === 0) return null;
      const patience = isOutage
        ? { attemptsMax: others, waitMsMax: 0 }
        : { attemptsMax: ATTEMPTS_MAX, waitMsMax: WAIT_MS_MAX };
      try {
        const found = await rpc.pinned(work, { ...options, ...patience, except: [...without] });
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
