// The ranges of history that only one of several configured nodes has confirmed; the self-audit compares them first.
import { assertDefined } from "../../lib/assert-defined.ts";

export type BlockSpan = { readonly from: number; readonly to: number };

export type UnconfirmedRanges = {
  add(span: BlockSpan): void;
  /** Two nodes have confirmed it. */
  confirm(span: BlockSpan): void;
  /** In block order; no two touch. */
  list(): readonly BlockSpan[];
};

// They are part of a report that is stored every second. Beyond this number, neighbours are merged: comparing the blocks
// between them costs time and loses nothing.
const SPANS_MAX = 200;

export function createUnconfirmedRanges(
  onChange: (spans: readonly BlockSpan[]) => void,
  spansMax = SPANS_MAX,
): UnconfirmedRanges {
  let spans: readonly BlockSpan[] = [];
  const replaceSpans = (next: readonly BlockSpan[]) => {
    spans = next;
    onChange(spans);
  };
  return {
    list: () => spans,
    add: (span) => replaceSpans(limitCount(mergeOverlapping([...spans, span]), spansMax)),
    confirm: (span) => replaceSpans(withoutSpan(spans, span)),
  };
}

export function countBlocks(spans: readonly BlockSpan[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

function mergeOverlapping(spans: readonly BlockSpan[]): readonly BlockSpan[] {
  const apart: BlockSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last && span.from <= last.to + 1) {
      apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else apart.push(span);
  }
  return apart;
}

/** Merges the two spans with the smallest gap until there are few enough. */
function limitCount(spans: readonly BlockSpan[], spansMax: number): readonly BlockSpan[] {
  let limited = spans;
  while (limited.length > spansMax) {
    const gaps = limited
      .slice(1)
      .map(({ from }, i) => from - assertDefined(limited[i], "the span before").to);
    const smallest = gaps.indexOf(Math.min(...gaps));
    limited = limited.flatMap((span, i) => {
      if (i === smallest + 1) return [];
      return i === smallest
        ? [{ from: span.from, to: assertDefined(limited[i + 1], "the next span").to }]
        : [span];
    });
  }
  return limited;
}

/** The blocks of the spans that are not in the removed one. */
export function withoutSpan(spans: readonly BlockSpan[], removed: BlockSpan): readonly BlockSpan[] {
  return spans.flatMap(({ from, to }) =>
    [
      { from, to: Math.min(to, removed.from - 1) },
      { from: Math.max(from, removed.to + 1), to },
    ].filter((left) => left.from <= left.to),
  );
}
