// Waits that end early and without an error when the run stops.
import { setTimeout as sleep } from "node:timers/promises";

export async function sleepUntilStopped(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Looks again and again; throws what `late` says when it takes too long. */
export async function waitUntil(
  isTrue: () => Promise<boolean>,
  { msMax, late }: { readonly msMax: number; readonly late: () => string },
): Promise<void> {
  for (const end = Date.now() + msMax; !(await isTrue()); ) {
    if (Date.now() > end) throw new Error(late());
    await sleep(LOOK_MS);
  }
}

const LOOK_MS = 50;
