// Time as a dependency, so that tests can control it.
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
