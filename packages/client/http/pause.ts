// How long to wait before the same request is sent again.

const PAUSE_MS = 250;
// About two blocks: what settles in that time has settled.
const PAUSE_MS_MAX = 15_000;

/**
 * Waits for what the service asks for, otherwise twice as long each time, and never longer than a person would. False
 * when the signal ended the wait.
 */
export function pauseBefore(
  attempt: number,
  retryAfterMs: number | null,
  signal?: AbortSignal | undefined,
  msMax = PAUSE_MS_MAX,
): Promise<boolean> {
  const ms = Math.min(retryAfterMs ?? PAUSE_MS * 2 ** (attempt - 1), msMax);
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const abort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve(true);
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
