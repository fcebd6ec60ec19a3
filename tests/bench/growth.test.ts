// What the growth benchmark makes of its numbers: decades of a backfill, quantiles of waits, events behind rows.
import { describe, expect, it } from "vitest";
import { countEventsOfSizes, tableSizes, tableSizesOfEvents } from "../../bench/api/row-generators.ts";
import { decadeBounds, splitIntoDecades } from "../../bench/growth/decades.ts";
import { quantilesOf } from "../../bench/harness/measurement.ts";

/** Batches that end at these counts: two milliseconds an event, one of them at work, and memory that falls. */
function marksOf(counts: readonly number[]) {
  return counts.map((events, i) => ({ events, ms: events * 2, cpuMs: events, rssBytes: 100 - i }));
}

describe("decades of a backfill", () => {
  it("are the hundredth, the tenth and the whole", () => {
    expect(decadeBounds(1_000_000)).toEqual([10_000, 100_000, 1_000_000]);
  });

  it("begin where the last one ended and end with the batch that reaches the bound", () => {
    const decades = splitIntoDecades(marksOf([6, 12, 60, 99, 101, 500, 1_000]), [10, 100, 1_000]);
    expect(decades).toEqual([
      { from: 0, to: 12, ms: 24, cpuMs: 12, rssBytesMax: 100 },
      { from: 12, to: 101, ms: 178, cpuMs: 89, rssBytesMax: 98 },
      { from: 101, to: 1_000, ms: 1_798, cpuMs: 899, rssBytesMax: 95 },
    ]);
  });

  it("leave out what one batch has swallowed, and count everything once", () => {
    const decades = splitIntoDecades(marksOf([150, 900]), [10, 100, 1_000]);
    expect(decades.map(({ from, to }) => [from, to])).toEqual([
      [0, 150],
      [150, 900],
    ]);
    expect(splitIntoDecades([], [10, 100])).toEqual([]);
  });
});

describe("quantiles", () => {
  it("are waits that really happened, whatever the order", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(quantilesOf(hundred)).toEqual({ medianMs: 50, p99Ms: 99 });
    expect(quantilesOf([7])).toEqual({ medianMs: 7, p99Ms: 7 });
  });

  it("are no number without a response", () => {
    expect(quantilesOf([])).toEqual({ medianMs: Number.NaN, p99Ms: Number.NaN });
  });
});

describe("events behind the rows of the API", () => {
  it("are about as many as requested", () => {
    for (const wanted of [10_000, 100_000, 1_000_000]) {
      const events = countEventsOfSizes(tableSizesOfEvents(wanted));
      expect(Math.abs(events / wanted - 1)).toBeLessThan(0.1);
    }
  });

  it("are more than the rows that each of them makes", () => {
    const sizes = tableSizes(1);
    expect(countEventsOfSizes(sizes)).toBeGreaterThan(
      sizes.agents + sizes.intents + sizes.bids + 2 * sizes.sales,
    );
  });
});
