// A deadline for work: signalled to it, and enforced even when it ignores the signal.
import type { Clock } from "./clock.ts";

export class DeadlineExceededError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} did not finish within ${ms} ms`);
    this.name = "DeadlinePassed";
  }
}

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
