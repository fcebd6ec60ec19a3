// Leaving in time: what is in flight is waited for, but not longer than a process has.
import { systemClock } from "./clock.ts";

// Within the ten seconds a process has to leave, with some left for what is closed afterwards. What is still waited for
// then is a node, or a transaction on its way: whoever asked hears nothing, takes the outcome for unknown, and asks again.
const LEAVE_MS = 7_000;

export async function closeWithDeadline(...closing: readonly (() => Promise<void>)[]): Promise<void> {
  const late = new AbortController();
  const closed = Promise.all(closing.map((close) => close()));
  await Promise.race([closed, systemClock.sleep(LEAVE_MS, late.signal).catch(() => undefined)]);
  late.abort();
}
