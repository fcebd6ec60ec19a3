// Time as a dependency, so that tests can control it, and deadlines for work.
import { setTimeout as sleep } from "node:timers/promises";

export type Clock = {
  /** Wall-clock milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Resolves after the given time, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await sleep(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      // node:timers rejects with its own AbortError; callers want the reason that was given to abort().
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

export class DeadlineExceededError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} did not finish within ${ms} ms`);
    this.name = "DeadlineExceededError";
  }
}

/** The deadline is signalled to the work, and enforced even when the work ignores the signal. */
export async function withDeadline<T>(
  { clock, ms, what }: { readonly clock: Clock; readonly ms: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  const passed = clock.sleep(ms, done.signal).then(
    () => {
      const reason = new DeadlineExceededError(what, ms);
      late.abort(reason);
      throw reason;
    },
    // The work was faster: the race is decided.
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([work(late.signal), passed]);
  } finally {
    done.abort();
  }
}
