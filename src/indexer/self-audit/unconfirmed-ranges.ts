// The ranges of history that one node alone has shown although several are configured: what the audit compares first.

export type BlockSpan = { readonly from: number; readonly to: number };

export type UnconfirmedRanges = {
  add(span: BlockSpan): void;
  /** Compared with two nodes by now. */
  confirm(span: BlockSpan): void;
  /** In block order; no two touch. */
  list(): readonly BlockSpan[];
};

// They travel in a report that is stored every second. Beyond this, neighbours become one range: to compare the blocks
// between them as well costs time and loses nothing.
const SPANS_MAX = 200;

export function createUnconfirmedRanges(
  onChange: (spans: readonly BlockSpan[]) => void,
  spansMax = SPANS_MAX,
): UnconfirmedRanges {
  let spans: readonly BlockSpan[] = [];
  const become = (next: readonly BlockSpan[]) => {
    spans = next;
    onChange(spans);
  };
  return {
    list: () => spans,
    add: (span) => become(bounded(joined([...spans, span]), spansMax)),
    confirm: (span) => become(spans.flatMap((each) => without(each, span))),
  };
}

export function countBlocks(spans: readonly BlockSpan[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

function joined(spans: readonly BlockSpan[]): readonly BlockSpan[] {
  const apart: BlockSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last && span.from <= last.to + 1) {
      apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else apart.push(span);
  }
  return apart;
}

/** Joins the two with the least between them until they are few enough. */
function bounded(spans: readonly BlockSpan[], spansMax: number): readonly BlockSpan[] {
  const few = [...spans];
  while (few.length > spansMax) {
    const gaps = few.slice(1).map(({ from }, i) => from - (few[i] as BlockSpan).to);
    const at = gaps.indexOf(Math.min(...gaps));
    few.splice(at, 2, { from: (few[at] as BlockSpan).from, to: (few[at + 1] as BlockSpan).to });
  }
  return few;
}

function without({ from, to }: BlockSpan, gone: BlockSpan): readonly BlockSpan[] {
  return [
    { from, to: Math.min(to, gone.from - 1) },
    { from: Math.max(from, gone.to + 1), to },
  ].filter((left) => left.from <= left.to);
}
