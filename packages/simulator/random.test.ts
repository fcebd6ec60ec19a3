// Random numbers are fair, stay within bounds, and repeat exactly.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "./random.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("Random", () => {
  it("gives the same numbers for the same seed, others for another", () => {
    const draw = (seed: number) => {
      const random = new Random(seed);
      return [random.word(), random.below(1_000_000), random.between(0n, 10n ** 30n), random.bytes32()];
    };
    fc.assert(
      fc.property(seeds, seeds, (one, other) => {
        expect(draw(one)).toEqual(draw(one));
        if (one !== other) expect(draw(one)).not.toEqual(draw(other));
      }),
    );
  });

  it("stays within its bounds and reaches both ends of small ones", () => {
    fc.assert(
      fc.property(seeds, fc.bigInt(0n, 2n ** 256n), fc.bigInt(0n, 2n ** 256n), (seed, min, span) => {
        const drawn = new Random(seed).between(min, min + span);
        expect(drawn >= min && drawn <= min + span).toBe(true);
      }),
    );
    const random = new Random(5);
    const drawn = new Set(Array.from({ length: 200 }, () => random.between(-1n, 2n)));
    expect([...drawn].sort()).toEqual([-1n, 0n, 1n, 2n]);
    expect(new Set(Array.from({ length: 200 }, () => random.below(3)))).toEqual(new Set([0, 1, 2]));
  });

  it("spreads evenly: each of ten values comes up in a tenth of the draws", () => {
    const random = new Random(1);
    const counts = new Array(10).fill(0);
    for (let draws = 0; draws < 20_000; draws += 1) counts[random.below(10)] += 1;
    for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(200);
  });

  it("picks only what is there", () => {
    const random = new Random(3);
    expect(new Set(Array.from({ length: 50 }, () => random.pick(["a", "b"])))).toEqual(new Set(["a", "b"]));
    expect(() => random.pick([])).toThrow(RangeError);
    expect(random.bytes32()).toMatch(/^0x[0-9a-f]{64}$/);
    expect(random.address()).toMatch(/^0x[0-9a-f]{40}$/);
  });

  it.each([-1, 0.5, 2 ** 32, Number.NaN])("rejects the seed %s", (seed) => {
    expect(() => new Random(seed)).toThrow(RangeError);
  });
});
