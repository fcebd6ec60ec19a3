// Bounded retry with full jitter, for work that may succeed when repeated.
import { type Clock, systemClock } from "./clock.ts";

/** The Retry-After header (RFC 9110: seconds or a date) in milliseconds from now; null when absent or unreadable. */
export function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

type RetryPolicy = {
  /** All attempts, the first one included. */
  readonly attemptsMax: number;
  /** Upper bound of the wait after the first failure; it doubles with every further one. */
  readonly delayMsBase: number;
  /** No wait is longer than this, however many failures came before. */
  readonly delayMsMax: number;
  readonly isRetryable: (error: unknown) => boolean;
  /** The wait that the other side requests (Retry-After); null without one. */
  readonly delayMsRequested?: (error: unknown) => number | null;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly signal?: AbortSignal;
};

/** Runs the operation until it succeeds, fails permanently, or the attempts are used up; throws the last error. */
export async function retry<T>(operation: (attempt: number) => Promise<T>, policy: RetryPolicy): Promise<T> {
  const clock = policy.clock ?? systemClock;
  for (let attempt = 1; ; attempt += 1) {
    policy.signal?.throwIfAborted();
    try {
      return await operation(attempt);
    } catch (error) {
      if (attempt >= policy.attemptsMax || !policy.isRetryable(error)) throw error;
      await clock.sleep(delayMs(attempt, error, policy), policy.signal);
    }
  }
}

// Full jitter (a uniform draw below the exponential bound) spreads clients that failed together.
function delayMs(attempt: number, error: unknown, policy: RetryPolicy): number {
  const bound = Math.min(policy.delayMsMax, policy.delayMsBase * 2 ** Math.min(attempt - 1, 30));
  const drawn = Math.floor((policy.random ?? Math.random)() * bound);
  const requested = policy.delayMsRequested?.(error) ?? 0;
  return Math.max(drawn, Math.min(requested, policy.delayMsMax));
}
