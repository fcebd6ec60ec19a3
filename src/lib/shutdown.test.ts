// Shutdown waits for work in flight, within its deadline.
import { describe, expect, it } from "vitest";
import { closeWithDeadline } from "./shutdown.ts";

describe("shutdown", () => {
  it("waits for what is in flight, but not longer than a process may", async () => {
    const started = Date.now();
    let closed = 0;
    const close = async () => {
      closed += 1;
    };
    await closeWithDeadline(close, close);
    expect([closed, Date.now() - started < 1_000]).toEqual([2, true]);
    await closeWithDeadline(close, () => new Promise(() => undefined));
    expect([closed, Date.now() - started < 9_500]).toEqual([3, true]);
  });

  it("reports what could not be closed", async () => {
    const broken = new Error("it is stuck");
    await expect(closeWithDeadline(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});
