// A fetch that asks again with the same payment while its outcome is open: signing anew could pay twice.
import { setTimeout as sleep } from "node:timers/promises";

// A settlement takes a block or a few.
const TRIES_MAX = 8;
const WAIT_SECONDS = 2;
const WAIT_SECONDS_MAX = 15;
const LATER = [429, 502, 503, 504];

export function createRetryingFetch(
  once: typeof fetch,
  wait: (ms: number) => Promise<unknown> = sleep,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // Without a payment nothing is at stake: the answer, whatever it is, is the caller's.
    if (!request.headers.has("payment-signature")) return once(request);
    for (let attempt = 1; ; attempt += 1) {
      const answer = await once(request.clone()).catch((error: unknown) => {
        if (attempt === TRIES_MAX) throw error;
        return null;
      });
      if (answer !== null && (!LATER.includes(answer.status) || attempt === TRIES_MAX)) return answer;
      const seconds = Number(answer?.headers.get("retry-after") ?? WAIT_SECONDS);
      await answer?.body?.cancel();
      await wait(1_000 * Math.min(Number.isFinite(seconds) ? seconds : WAIT_SECONDS, WAIT_SECONDS_MAX));
    }
  };
}
