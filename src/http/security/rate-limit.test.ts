// The rate limit: a whole minute at once, then an even refill, independent for each client.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRateLimiter } from "./request-guard.ts";

function createLimiter(perMinute: number, clientsMax?: number) {
  let now = 1_000_000;
  const limit = createRateLimiter({
    perMinute,
    clock: { nowMs: () => now },
    ...(clientsMax === undefined ? {} : { clientsMax }),
  });
  return {
    take: limit.take,
    release: limit.release,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

describe("a rate limiter", () => {
  it("allows a whole minute at once, and returns how long to wait for the next unit", () => {
    const { take, wait } = createLimiter(60);
    expect(Array.from({ length: 60 }, () => take("a"))).toEqual(Array.from({ length: 60 }, () => 0));
    expect(take("a")).toBeCloseTo(1_000);
    expect(take("b")).toBe(0);
    wait(999);
    expect(take("a")).toBeCloseTo(1);
    wait(1);
    expect(take("a")).toBe(0);
    expect(take("a")).toBeCloseTo(1_000);
  });

  it("gives all clients of an IPv6 /56 the units of two, and those of a /48 the units of three", () => {
    const { take, wait } = createLimiter(60);
    const passed = (clients: readonly string[]) => clients.filter((client) => take(client) === 0).length;
    const ofCustomer = Array.from({ length: 256 }, (_, each) => `2001:db8:1:${(0x4200 + each).toString(16)}`);
    const ofSite = Array.from({ length: 5_000 }, (_, each) => `2001:db8:1:${(each * 13).toString(16)}`);
    expect(passed(ofCustomer)).toBe(120);
    expect(passed(ofSite)).toBe(60);
    expect(take("2001:db8:2:4200")).toBe(0);
    // A request that the network's limit rejects costs the client nothing.
    wait(60_000);
    expect(passed(Array.from({ length: 61 }, () => "2001:db8:1:42ff"))).toBe(60);
  });

  it("allows at most two minutes of units in any minute, and always the allowed pace", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 30 }), (waits, perMinute) => {
        const { take, wait } = createLimiter(perMinute);
        const passed: number[] = [];
        let now = 0;
        for (const ms of waits) {
          wait(ms);
          now += ms;
          const early = take("a");
          if (early === 0) passed.push(now);
          // The wait is never longer than one interval.
          else expect(early).toBeLessThanOrEqual(60_000 / perMinute);
          const recent = passed.filter((at) => at > now - 60_000);
          expect(recent.length).toBeLessThanOrEqual(2 * perMinute);
        }
      }),
    );
  });

  it("counts any number of units, at most a minute at once", () => {
    const { take, wait } = createLimiter(60);
    expect([take("a", 40), take("a", 20)]).toEqual([0, 0]);
    expect(take("a", 10)).toBeCloseTo(10_000);
    wait(10_000);
    expect(take("a", 10)).toBe(0);
    wait(60_000);
    expect(take("a", 1_000)).toBe(0);
    expect(take("a", 1_000)).toBeCloseTo(60_000);
  });

  it("returns unused units, at most a minute", () => {
    const { take, release, wait } = createLimiter(60);
    expect(take("a", 50)).toBe(0);
    release("a", 50, 40);
    expect([take("a", 20), take("a") > 0]).toEqual([0, true]);
    expect(take("b", 1_000)).toBe(0);
    release("b", 1_000, 59);
    expect([take("b"), take("b") > 0]).toEqual([0, true]);
    expect(take("c", 60)).toBe(0);
    release("c", 60, 1_000);
    expect(take("c")).toBeCloseTo(1_000);
    expect(take("d", 60)).toBe(0);
    wait(60_000);
    release("d", 60, 0);
    expect([take("d", 60), take("d") > 0]).toEqual([0, true]);
  });

  it("remembers a limited number of clients, the most recent ones", () => {
    const { take } = createLimiter(1, 2);
    expect([take("a"), take("b"), take("c")]).toEqual([0, 0, 0]);
    expect(take("c")).toBeGreaterThan(0);
    expect(take("b")).toBeGreaterThan(0);
    expect(take("a")).toBe(0);
  });

  it("never makes a client wait longer than a minute when the clock is set back", () => {
    const { take, wait } = createLimiter(2);
    expect([take("a"), take("a")]).toEqual([0, 0]);
    wait(-3_600_000);
    expect(take("a")).toBeLessThanOrEqual(30_000);
    wait(60_000);
    expect(take("a")).toBe(0);
  });
});
