// The bytes of sold reads that a process stores never exceed their bounds within the time for which they are stored.
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../lib/fault.ts";
import { StoredBytes } from "./stored-bytes.ts";

const STORED_MS = 300_000;

function openStored(bytesMax: number, bodyBytesMax = 1) {
  const time = { ms: 1_000_000_000 };
  const clock = { nowMs: () => time.ms };
  return { time, stored: new StoredBytes({ bytesMax, bodyBytesMax, storedMs: STORED_MS, clock }) };
}

function waitOf(act: () => void): number | null {
  try {
    act();
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: "OVERLOADED" });
    return (error as Fault).retryAfterSeconds;
  }
}

describe("the bytes of sold reads", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("never exceed their bounds over the time for which each is stored, and only a body without room is rejected", () => {
    const steps = fc.array(
      fc.record({
        pauseMs: fc.integer({ min: 0, max: 120_000 }),
        bytes: fc.integer({ min: 1, max: 600 }),
        signer: fc.constantFrom("one", "two", "three"),
      }),
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 2_000 }), (given, bytesMax) => {
        const { time, stored } = openStored(bytesMax);
        const taken: { readonly atMs: number; readonly bytes: number; readonly signer: string }[] = [];
        const heldAt = (ms: number, whose: string | null) =>
          taken
            .filter(({ atMs, signer }) => atMs + ms > time.ms && (whose === null || whose === signer))
            .reduce((sum, { bytes }) => sum + bytes, 0);
        const isWithin = (ms: number, signer: string, bytes: number) =>
          heldAt(ms, null) + bytes <= bytesMax &&
          (heldAt(ms, null) + bytes <= bytesMax / 2 ||
            heldAt(ms, signer) + bytes <= (bytesMax - heldAt(ms, null) - bytes) / 8);
        for (const { pauseMs, bytes, signer } of given) {
          time.ms += pauseMs;
          // Time is counted in seconds, so that a body may be kept a second longer than it is stored.
          const surelyFits = isWithin(STORED_MS + 1_000, signer, bytes);
          const mayFit = isWithin(STORED_MS - 1_000, signer, bytes);
          const waitSeconds = waitOf(() => stored.take(signer, bytes));
          if (waitSeconds === null) {
            expect(mayFit).toBe(true);
            taken.push({ atMs: time.ms, bytes, signer });
          } else {
            expect(surelyFits).toBe(false);
            expect(waitSeconds).toBeGreaterThan(0);
            expect(waitSeconds).toBeLessThanOrEqual(STORED_MS / 1_000);
          }
        }
      }),
    );
  });

  it("stored responses have room again as soon as they say, and not before", () => {
    const { time, stored } = openStored(80);
    for (let at = 0; at < 4; at += 1) {
      stored.take(`signer ${at}`, 10);
      time.ms += 10_000;
    }
    expect(waitOf(() => stored.take("other", 10))).toBe(260);
    time.ms += 259_000;
    expect(waitOf(() => stored.take("other", 10))).toBe(1);
    time.ms += 1_000;
    expect(waitOf(() => stored.take("other", 10))).toBeNull();
    // More than the oldest body must go first.
    expect(waitOf(() => stored.take("last", 30))).toBe(30);
  });

  it("one signer gets an eighth of what is free once half of the space is used, and others still buy", () => {
    const { time, stored } = openStored(800);
    for (let at = 0; at < 4; at += 1) stored.take("greedy", 100);
    time.ms += 100_000;
    expect(() => stored.take("greedy", 1)).toThrow(
      /^This signer's share .* is full; try again in 200 seconds/,
    );
    stored.take("one", 40);
    expect(() => stored.take("two", 401)).toThrow(
      /^The space for stored responses of sold reads is full; try/,
    );
    stored.take("two", 40);
    time.ms += 200_000;
    expect(waitOf(() => stored.take("greedy", 100))).toBeNull();
  });

  it("fifty signers that take all they can leave room for another one", () => {
    const { stored } = openStored(1_000_000);
    for (let at = 0; at < 50; at += 1) {
      for (const bytes of [1_000, 10]) {
        while (waitOf(() => stored.take(`greedy ${at}`, bytes)) === null);
      }
    }
    expect(waitOf(() => stored.take("honest", 100))).toBeNull();
  });

  it("a read is rejected before it runs while the largest body has no room", () => {
    const { stored } = openStored(100, 40);
    stored.take("one", 20);
    expect(waitOf(() => stored.check("two"))).not.toBeNull();
    expect(waitOf(() => stored.take("two", 10))).toBeNull();
    expect(waitOf(() => openStored(100, 40).stored.check("two"))).toBeNull();
  });

  it("end although the clock of the machine was ahead and is set back", () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const stored = new StoredBytes({ bytesMax: 10, bodyBytesMax: 1, storedMs: STORED_MS });
    vi.setSystemTime(Date.now() + 3_600_000);
    stored.take("one", 5);
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(STORED_MS + 1_000);
    expect(waitOf(() => stored.take("one", 5))).toBeNull();
  });
});
