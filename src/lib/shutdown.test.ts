// Shutdown waits for work in flight, within its deadline.
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import { closeWithDeadline } from "./shutdown.ts";

describe("shutdown", () => {
  it("waits for what is in flight, but not longer than a process may", async () => {
    const started = Date.now();
    let closed = 0;
    const close = async () => {
      closed += 1;
    };
    await closeWithDeadline([close, close]);
    expect([closed, Date.now() - started < 1_000]).toEqual([2, true]);
    const clock = createFastClock();
    await closeWithDeadline([close, () => new Promise(() => undefined)], clock);
    expect(closed).toBe(3);
    // A process has ten seconds, and closes more than this.
    expect(clock.sleptMs).toEqual([expect.toSatisfy((ms: number) => ms > 5_000 && ms < 9_500)]);
  });

  it("reports what could not be closed", async () => {
    const broken = new Error("it is stuck");
    await expect(closeWithDeadline([() => Promise.reject(broken)])).rejects.toBe(broken);
  });
});
