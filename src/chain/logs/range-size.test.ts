// How the size of a log query finds its way.
import { describe, expect, it } from "vitest";
import { RangeSize } from "./read-range.ts";

const sizes = (options: Partial<ConstructorParameters<typeof RangeSize>[0]> = {}) =>
  new RangeSize({ rangeMax: 10_000, rangeInitial: 500, logsTarget: 1_000, ...options });

describe("the size of a range", () => {
  it("doubles after light responses up to its limit", () => {
    const size = sizes();
    const seen: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      seen.push(size.blocks);
      size.recordSuccess(size.blocks, 0, 0);
    }
    expect(seen).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it("halves after a rejection, and grows slowly near the rejected size", () => {
    const size = sizes();
    size.recordRejection(500, 0, null);
    expect(size.blocks).toBe(250);
    size.recordSuccess(250, 0, 0);
    expect(size.blocks).toBe(282);
  });

  it("keeps to what a provider states, and forgets it with another provider", () => {
    const size = sizes({ rangeInitial: 8_000 });
    size.recordRejection(8_000, 1, 50);
    expect(size.blocks).toBe(50);
    size.recordSuccess(50, 0, 1);
    expect(size.blocks).toBe(50);
    size.recordSuccess(50, 0, 0);
    expect(size.blocks).toBe(100);
  });

  it("aims at a number of logs, not of blocks", () => {
    const size = sizes();
    size.recordSuccess(500, 600, 0);
    expect(size.blocks).toBe(500);
    size.recordSuccess(500, 5_000, 0);
    expect(size.blocks).toBe(100);
  });

  it("never falls below one block", () => {
    const size = sizes({ rangeInitial: 1 });
    size.recordRejection(1, 0, null);
    size.recordSuccess(1, 1_000_000, 0);
    expect(size.blocks).toBe(1);
  });

  it("ignores the success of a range shorter than its size", () => {
    const size = sizes();
    size.recordSuccess(3, 0, 0);
    expect(size.blocks).toBe(500);
  });
});
