// The bytes of sold reads that a process stores never exceed their bound within the time for which they are stored.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { StoredBytes } from "./stored-bytes.ts";

const STORED_MS = 300_000;

describe("the bytes of sold reads", () => {
  it("never exceed their bound over the time for which each is stored, and only a body without room is rejected", () => {
    const steps = fc.array(
      fc.record({ pauseMs: fc.integer({ min: 0, max: 120_000 }), bytes: fc.integer({ min: 1, max: 600 }) }),
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 2_000 }), (given, bytesMax) => {
        let nowMs = 1_000_000_000;
        const stored = new StoredBytes({ bytesMax, storedMs: STORED_MS, clock: { nowMs: () => nowMs } });
        const taken: { readonly atMs: number; readonly bytes: number }[] = [];
        const heldAt = (ms: number) =>
          taken.filter(({ atMs }) => atMs + ms > nowMs).reduce((sum, { bytes }) => sum + bytes, 0);
        for (const { pauseMs, bytes } of given) {
          nowMs += pauseMs;
          try {
            stored.take(bytes);
            taken.push({ atMs: nowMs, bytes });
          } catch (error) {
            expect(error).toMatchObject({ code: "OVERLOADED" });
            const { retryAfterSeconds } = error as Fault;
            expect(retryAfterSeconds).toBeGreaterThan(0);
            expect(retryAfterSeconds).toBeLessThanOrEqual(STORED_MS / 1_000);
            // Time is counted in seconds, so that a body may be kept a second longer than it is stored.
            expect(heldAt(STORED_MS + 1_000) + bytes).toBeGreaterThan(bytesMax);
          }
          expect(heldAt(STORED_MS - 1_000)).toBeLessThanOrEqual(bytesMax);
        }
      }),
    );
  });

  it("has room again as soon as it says", () => {
    let nowMs = 0;
    const stored = new StoredBytes({ bytesMax: 10, storedMs: STORED_MS, clock: { nowMs: () => nowMs } });
    stored.take(10);
    nowMs = 100_000;
    let waitSeconds = 0;
    try {
      stored.take(1);
    } catch (error) {
      if (error instanceof Fault) waitSeconds = error.retryAfterSeconds ?? 0;
    }
    expect(waitSeconds).toBe(200);
    nowMs += waitSeconds * 1_000;
    expect(() => stored.take(10)).not.toThrow();
  });
});
