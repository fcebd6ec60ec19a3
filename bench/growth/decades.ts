// What each decade of one backfill cost: the first ten thousand events, those up to a hundred thousand, and so on.
import type { BackfillMark } from "../backfill/backfill-child.ts";

export type BackfillDecade = {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
  readonly cpuMs: number;
  /** The most that was in use after any of its batches. */
  readonly rssBytesMax: number;
};

/** The hundredth, the tenth and the whole of a number. */
export function decadeBounds(events: number): readonly number[] {
  return [events / 100, events / 10, events].map(Math.ceil);
}

/** Cut where a batch ends, at a bound or after it; a decade that the batch before it has swallowed is left out. */
export function splitIntoDecades(
  marks: readonly BackfillMark[],
  bounds: readonly number[],
): BackfillDecade[] {
  const decades: BackfillDecade[] = [];
  let start = 0;
  for (const bound of bounds) {
    const reached = marks.findIndex(({ events }) => events >= bound);
    const within = marks.slice(start, reached < 0 ? marks.length : reached + 1);
    const last = within.at(-1);
    if (!last) continue;
    const before = marks[start - 1] ?? { events: 0, ms: 0, cpuMs: 0 };
    decades.push({
      from: before.events,
      to: last.events,
      ms: last.ms - before.ms,
      cpuMs: last.cpuMs - before.cpuMs,
      rssBytesMax: Math.max(...within.map(({ rssBytes }) => rssBytes)),
    });
    start += within.length;
  }
  return decades;
}
