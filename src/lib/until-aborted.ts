// Waits for work that others share: the wait ends with its signal, the work goes on.
import { setMaxListeners } from "node:events";

/** Rejects with the signal's reason once that aborts. */
export async function untilAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  // Every wait listens until it ends.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
