// The end of a piece of work: what ends it, and that nothing stays behind.
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Deadline } from "./deadline.ts";

const LONG_MS = 60_000;

describe("a deadline", () => {
  it("ends the work with the reason of whatever it belongs to", () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const deadline = new Deadline(LONG_MS, one.signal, other.signal);
    other.abort("shutting down");
    expect([deadline.signal.aborted, deadline.signal.reason, deadline.isLate]).toEqual([
      ...[true, "shutting down", false],
    ]);
    deadline.end();
  });

  it("ends work that begins when it is already over", () => {
    const deadline = new Deadline(LONG_MS, AbortSignal.abort("gone"));
    expect([deadline.signal.aborted, deadline.signal.reason]).toEqual([true, "gone"]);
    deadline.end();
  });

  it("ends the work after its time, and says that it was late", async () => {
    const deadline = new Deadline(1, new AbortController().signal);
    await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
    expect([deadline.isLate, (deadline.signal.reason as Error).name]).toEqual([true, "TimeoutError"]);
    deadline.end();
  });

  it("counts no time before it begins, and counts from the start when it begins again", async () => {
    const deadline = new Deadline(null, new AbortController().signal);
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    await pause();
    deadline.begin(1);
    deadline.begin(LONG_MS);
    await pause();
    expect(deadline.signal.aborted).toBe(false);
    deadline.begin(1);
    await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
    expect(deadline.isLate).toBe(true);
    deadline.end();
  });

  it("begins no more once the work is over", async () => {
    const deadline = new Deadline(null, new AbortController().signal);
    deadline.end();
    deadline.begin(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(deadline.signal.aborted).toBe(false);
  });

  it("leaves no listener behind, and stops what is left only for a reason", () => {
    const outer = new AbortController();
    const [quiet, stopped] = [new Deadline(LONG_MS, outer.signal), new Deadline(LONG_MS, outer.signal)];
    expect(getEventListeners(outer.signal, "abort")).toHaveLength(2);
    quiet.end();
    stopped.end(new Error("failed"));
    expect(getEventListeners(outer.signal, "abort")).toEqual([]);
    outer.abort();
    expect([quiet.signal.aborted, stopped.signal.aborted]).toEqual([false, true]);
  });
});
