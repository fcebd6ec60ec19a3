// Time as a dependency, so that tests can control it, and deadlines for work.
export type Clock = {
  /** Wall-clock milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Resolves after the given time, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  // Not that of node:timers/promises: its AbortError hides the reason that was given to abort(), and costs a stack trace.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    }),
};

export class DeadlineExceededError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} did not finish within ${ms} ms`);
    this.name = "DeadlineExceededError";
  }
}

// With a reason given, abort() makes no error with a stack trace of its own.
const IN_TIME = new Error("the work was done in time");

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
    done.abort(IN_TIME);
  }
}
