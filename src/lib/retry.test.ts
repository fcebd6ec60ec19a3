// Retry, limit and clock: bounded in attempts, time and number, under an owned clock.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "./clock.ts";
import { createConcurrencyLimit } from "./concurrency-limit.ts";
import { Fault } from "./fault.ts";
import { retry } from "./retry.ts";

function recordingClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  return { slept, nowMs: () => slept.reduce((a, b) => a + b, 0), sleep: async (ms) => void slept.push(ms) };
}

describe("retry", () => {
  const base = { attemptsMax: 5, delayMsBase: 100, delayMsMax: 1_000, isRetryable: () => true };

  it("returns the first success and waits below a doubling, capped bound", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (failures, drawn) => {
          const clock = recordingClock();
          let calls = 0;
          const operation = async (attempt: number) => {
            calls += 1;
            if (attempt <= failures) throw new Error("not yet");
            return attempt;
          };
          expect(await retry(operation, { ...base, clock, random: () => drawn })).toBe(failures + 1);
          expect(calls).toBe(failures + 1);
          expect(clock.slept).toEqual(
            Array.from({ length: failures }, (_, index) =>
              Math.floor(drawn * Math.min(1_000, 100 * 2 ** index)),
            ),
          );
        },
      ),
    );
  });

  it("gives up after its attempts and throws the last error itself", async () => {
    let calls = 0;
    const failing = retry(async () => Promise.reject(new Error(`failure ${++calls}`)), {
      ...base,
      clock: recordingClock(),
    });
    await expect(failing).rejects.toThrow("failure 5");
  });

  it("does not retry work that cannot succeed", async () => {
    let calls = 0;
    const operation = async () => {
      calls += 1;
      throw new Fault("INPUT_INVALID", "no");
    };
    await expect(
      retry(operation, { ...base, isRetryable: (e) => e instanceof Fault && e.retry }),
    ).rejects.toThrow("no");
    expect(calls).toBe(1);
  });

  it("waits at least as long as the other side requests, but never beyond its own limit", async () => {
    const clock = recordingClock();
    let requested = 700;
    const operation = async (attempt: number) => {
      if (attempt <= 2) throw new Error("429");
      return "done";
    };
    const delayMsRequested = () => {
      const wanted = requested;
      requested = 60_000;
      return wanted;
    };
    await retry(operation, { ...base, clock, random: () => 0, delayMsRequested });
    expect(clock.slept).toEqual([700, 1_000]);
  });

  it("stops at once when aborted, with the reason given", async () => {
    const controller = new AbortController();
    const waiting = retry(async () => Promise.reject(new Error("x")), {
      ...base,
      delayMsBase: 60_000,
      delayMsMax: 60_000,
      random: () => 0.99,
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(new Error("stopping")), 10);
    await expect(waiting).rejects.toThrow("stopping");
  });
});

describe("systemClock", () => {
  it("returns the time and sleeps", async () => {
    const before = systemClock.nowMs();
    await systemClock.sleep(15);
    expect(systemClock.nowMs() - before).toBeGreaterThanOrEqual(10);
  });
});

describe("createLimit", () => {
  it("never runs more than allowed, in order, and runs everything", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.boolean(), { maxLength: 30 }),
        async (runningMax, plan) => {
          const limit = createConcurrencyLimit({ runningMax, waitingMax: 100 });
          let running = 0;
          let most = 0;
          const startedInOrder: number[] = [];
          const results = await Promise.allSettled(
            plan.map((fails, index) =>
              limit.run(async () => {
                startedInOrder.push(index);
                running += 1;
                most = Math.max(most, running);
                await new Promise((resolve) => setImmediate(resolve));
                running -= 1;
                if (fails) throw new Error("planned");
                return index;
              }),
            ),
          );
          expect(most).toBeLessThanOrEqual(runningMax);
          expect(startedInOrder).toEqual(plan.map((_, index) => index));
          expect(results.map(({ status }) => status === "rejected")).toEqual(plan);
          expect([limit.running, limit.waiting]).toEqual([0, 0]);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("rejects a task when too many wait, with a fault that may be retried", async () => {
    const limit = createConcurrencyLimit({ runningMax: 1, waitingMax: 0 });
    const held = limit.run(() => new Promise((resolve) => setTimeout(resolve, 20)));
    await expect(limit.run(async () => 1)).rejects.toMatchObject({
      code: "OVERLOADED",
      status: 503,
      retry: true,
    });
    await held;
    await expect(limit.run(async () => 1)).resolves.toBe(1);
  });
});
