// Figures of the growth benchmark: sizes of an index, quantiles of waits, events behind rows.
import { describe, expect, it } from "vitest";
import { countEventsOfSizes, tableSizes, tableSizesOfEvents } from "../../bench/api/row-generators.ts";
import { decadeBounds } from "../../bench/growth/decades.ts";
import { quantilesOf } from "../../bench/harness/measurement.ts";

describe("sizes of a growing index", () => {
  it("sizes of a growing index are the hundredth, the tenth and the whole", () => {
    expect(decadeBounds(1_000_000)).toEqual([10_000, 100_000, 1_000_000]);
  });
});

describe("quantiles", () => {
  it("quantiles are waits that really happened, whatever the order", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(quantilesOf(hundred)).toEqual({ medianMs: 50, p99Ms: 99 });
    expect(quantilesOf([7])).toEqual({ medianMs: 7, p99Ms: 7 });
  });

  it("quantiles without a response are NaN", () => {
    expect(quantilesOf([])).toEqual({ medianMs: Number.NaN, p99Ms: Number.NaN });
  });
});

describe("events behind the rows of the API", () => {
  it("creates rows of about as many events as requested", () => {
    for (const wanted of [10_000, 100_000, 1_000_000]) {
      const events = countEventsOfSizes(tableSizesOfEvents(wanted));
      expect(Math.abs(events / wanted - 1)).toBeLessThan(0.1);
    }
  });

  it("counts more events than agents, intents, bids and sales together", () => {
    const sizes = tableSizes(1);
    expect(countEventsOfSizes(sizes)).toBeGreaterThan(
      sizes.agents + sizes.intents + sizes.bids + 2 * sizes.sales,
    );
  });
});
