// Waits for work that others share: the wait ends with its signal, the work goes on.

/** Rejects with the signal's reason once that aborts. */
export async function untilAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
