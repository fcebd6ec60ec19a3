// Shutdown: what starts it, how long work in flight may take, and closing in reverse order.
import { type Clock, systemClock } from "./clock.ts";

// A process has ten seconds to stop; this leaves some for what is closed afterwards. Only a node or a transaction can
// still be pending then: the client gets no response, treats the outcome as unknown, and retries.
const LEAVE_MS = 7_000;

export async function closeWithDeadline(
  closing: readonly (() => Promise<void>)[],
  clock: Clock = systemClock,
): Promise<void> {
  const late = new AbortController();
  const closed = Promise.all(closing.map((close) => close()));
  await Promise.race([closed, clock.sleep(LEAVE_MS, late.signal).catch(() => undefined)]);
  late.abort();
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Closes what was opened, in reverse order. */
export type CloseStack = {
  push(...closers: readonly (() => Promise<void> | void)[]): void;
  closeAll(): Promise<void>;
};

export function createCloseStack(): CloseStack {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    push: (...more) => void closers.push(...more),
    async closeAll() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
