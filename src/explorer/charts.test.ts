// Bar charts: axes that fit their values, bars in proportion, and a table with the same rows.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import { axisTop, barChart, type ChartBar } from "./charts.ts";

const HEIGHT = 168;

function chartOf(values: readonly bigint[]): string {
  const bars = values.map(
    (value, index): ChartBar => ({
      tick: `t${index}`,
      value,
      title: `${index}: ${value}`,
      cells: [`t${index}`, value.toString()],
    }),
  );
  const chart = barChart({
    sentence: "A & B",
    columns: ["Time", "Value"],
    bars,
    formatValue: String,
    empty: "Nothing.",
  });
  return renderHtml(chart);
}

describe("the axis of a chart", () => {
  it("ends at a round number that no value exceeds, and is at most twice the largest above 1", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n }), { minLength: 1 }), (values) => {
        const top = axisTop(values);
        const most = values.reduce((a, b) => (a > b ? a : b));
        expect(top >= most && top % 2n === 0n).toBe(true);
        if (most > 1n) expect(top <= 2n * most).toBe(true);
        expect(top.toString()).toMatch(/^[1-9]0*$/);
      }),
    );
  });
});

describe("a chart of bars", () => {
  it("has a bar and a row for each value, in proportion", () => {
    const text = chartOf([0n, 5n, 10n, 1n]);
    const heights = [...text.matchAll(/class="chart-value"[^>]* height="([0-9.]+)"/g)].map(([, each]) =>
      Number(each),
    );
    expect(heights).toEqual([0, HEIGHT / 2, HEIGHT, HEIGHT / 10]);
    expect(text.match(/<th scope="row">/g)).toHaveLength(4);
    expect(text).toContain('aria-label="A &amp; B"');
  });

  it("shows what is tiny, stays inside its width, and labels few of many bars", () => {
    const text = chartOf(Array.from({ length: 400 }, (_, index) => (index === 0 ? 1n : 10n ** 30n)));
    expect(text).toContain('height="1.5"');
    const ends = [...text.matchAll(/x="([0-9.]+)%"[^>]* width="([0-9.]+)%"/g)].map(
      ([, x, width]) => Number(x) + Number(width),
    );
    expect(Math.max(...ends)).toBeLessThanOrEqual(100.01);
    expect((text.match(/chart-tick/g) ?? []).length).toBeLessThanOrEqual(8);
  });

  it("says that a chart has no values", () => {
    expect(chartOf([])).toBe('<p class="empty">Nothing.</p>');
  });
});
