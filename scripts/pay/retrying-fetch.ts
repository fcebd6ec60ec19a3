// A fetch that retries with the same payment while its outcome is open: a second signature could pay twice.
import { setTimeout as sleep } from "node:timers/promises";

// A settlement takes a block or a few.
const TRIES_MAX = 8;
const WAIT_SECONDS = 2;
const WAIT_SECONDS_MAX = 15;
const RETRYABLE_STATUSES = [429, 502, 503, 504];

export function createRetryingFetch(
  once: typeof fetch,
  wait: (ms: number) => Promise<unknown> = sleep,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // Without a payment there is nothing to retry for.
    if (!request.headers.has("payment-signature")) return once(request);
    for (let attempt = 1; ; attempt += 1) {
      const response = await once(request.clone()).catch((error: unknown) => {
        if (attempt === TRIES_MAX) throw error;
        return null;
      });
      if (response !== null && (!RETRYABLE_STATUSES.includes(response.status) || attempt === TRIES_MAX))
        return response;
      const seconds = Number(response?.headers.get("retry-after") ?? WAIT_SECONDS);
      await response?.body?.cancel();
      await wait(1_000 * Math.min(Number.isFinite(seconds) ? seconds : WAIT_SECONDS, WAIT_SECONDS_MAX));
    }
  };
}
