// Small charts drawn on the server as SVG, with attributes only: the policy of the pages allows no inline style.
import { shareOf } from "./format.ts";
import { type Html, type HtmlValue, html } from "./html.ts";

const WIDTH = 240;
const HEIGHT = 48;
const EDGE = 3;

/** A line over counts; the sentence says the same to those who do not see it. */
export function sparkline(counts: readonly number[], sentence: string): Html {
  const most = Math.max(1, ...counts);
  const step = (WIDTH - 2 * EDGE) / Math.max(1, counts.length - 1);
  const points = counts.map((count, index) => {
    const y = HEIGHT - EDGE - (count / most) * (HEIGHT - 2 * EDGE);
    return `${(EDGE + index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const bottom = HEIGHT - EDGE;
  const area = `${EDGE},${bottom} ${points.join(" ")} ${(WIDTH - EDGE).toFixed(1)},${bottom}`;
  return html`<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${sentence}"><polygon class="area" points="${area}"/><polyline class="line" points="${points.join(" ")}" vector-effect="non-scaling-stroke"/></svg>`;
}

/** How many of the blocks fall into each of the equal parts between the first and the last. */
export function countByPart(
  blocks: readonly bigint[],
  parts: number,
  first: bigint,
  last: bigint,
): readonly number[] {
  const counts = Array.from({ length: parts }, () => 0);
  const span = last - first + 1n;
  for (const block of blocks) {
    if (block < first || block > last) continue;
    const part = Number(((block - first) * BigInt(parts)) / span);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}

type Bar = { readonly label: HtmlValue; readonly value: bigint; readonly text: HtmlValue };

/** Bars beside their values, largest as wide as it gets. */
export function bars(items: readonly Bar[]): Html {
  const most = items.reduce((largest, { value }) => (value > largest ? value : largest), 0n);
  return html`<ul class="bars">${items.map(({ label, value, text }) => html`<li><span class="bar-label">${label}</span><span class="bar-value">${text}</span>${track(shareOf(value, most))}</li>`)}</ul>`;
}

/** A bar of so many hundredths of a percent. */
function track(share: number): Html {
  return html`<svg class="track" width="100%" height="6" aria-hidden="true"><rect class="track-rest" width="100%" height="6" rx="3"/><rect class="track-part" width="${(share / 100).toFixed(2)}%" height="6" rx="3"/></svg>`;
}

type RangeMark = { readonly at: bigint; readonly kind: "limit" | "good" | "bad" | "plain" };

/** A value on a line between two ends, measured from a mark: right of it is better. */
export function rangeLine(from: bigint, to: bigint, limit: bigint, value: RangeMark): Html {
  const place = (at: bigint) => 4 + (shareOf(at - from, to - from) / 10_000) * 92;
  const [start, end] = [place(limit), place(value.at)].sort((a, b) => a - b);
  return html`<svg class="range" width="100%" height="18" aria-hidden="true"><rect class="track-rest" x="0" y="7" width="100%" height="4" rx="2"/><rect class="range-${value.kind}" x="${(start ?? 0).toFixed(2)}%" y="7" width="${((end ?? 0) - (start ?? 0)).toFixed(2)}%" height="4"/><rect class="range-limit" x="${place(limit).toFixed(2)}%" y="1" width="2" height="16"/><circle class="range-${value.kind}" cx="${place(value.at).toFixed(2)}%" cy="9" r="5"/></svg>`;
}
