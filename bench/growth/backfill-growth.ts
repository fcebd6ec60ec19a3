// How a backfill's cost grows with the history: one long run, looked at decade by decade.

import { runBackfill, startReplayNodeChild } from "../backfill/run-backfill.ts";
import type { BenchServer } from "../harness/bench-database.ts";
import {
  aimAtMost,
  aimBelowMemoryMax,
  type BenchReport,
  formatGrouped,
  formatMegabytes,
  formatMicroseconds,
  formatPercent,
  type Headline,
  MEMORY_BYTES_MAX,
} from "../harness/measurement.ts";
import type { StartChild } from "../harness/with-children.ts";
import { type BackfillDecade, decadeBounds, splitIntoDecades } from "./decades.ts";

type BackfillGrowthTask = { readonly seed: number; readonly events: number };

// What is flat may seem a fifth steeper when the machine looks away.
const FLAT_PERCENTS = 120;

export async function measureBackfillGrowth(
  start: StartChild,
  server: BenchServer,
  { seed, events }: BackfillGrowthTask,
): Promise<BenchReport> {
  const { node, stop } = await startReplayNodeChild(start, { seed, events });
  const place = { connection: server.connection, schema: "backfill" };
  const filled = await runBackfill(start, {
    ...place,
    url: node.url,
    seed,
    events: node.events,
    head: node.head,
  });
  await stop();
  const decades = splitIntoDecades(filled.marks, decadeBounds(events));
  return {
    measurements: decades.map((decade) => ({
      what: `backfill, events ${formatGrouped(decade.from)} to ${formatGrouped(decade.to)}`,
      value: formatMicroseconds(perEvent(decade), 1),
      note: `each; ${formatMicroseconds(decade.cpuMs / eventsIn(decade), 1)} of processor time, memory at most ${formatMegabytes(decade.rssBytesMax)}`,
    })),
    headlines: [...flatness(decades), memory(filled.rssBytesMax, filled.events)],
  };
}

const eventsIn = ({ from, to }: BackfillDecade): number => to - from;
const perEvent = (decade: BackfillDecade): number => decade.ms / eventsIn(decade);

/** The last decade against the one before it: the first is mostly the compiler's. */
function flatness(decades: readonly BackfillDecade[]): Headline[] {
  const [before, last] = decades.slice(-2);
  if (!before || !last) return [];
  const name = ({ from, to }: BackfillDecade) => `${formatGrouped(from)} to ${formatGrouped(to)}`;
  return [
    {
      what: `backfill, time per event, events ${name(last)}`,
      value: formatMicroseconds(perEvent(last), 1),
      ceiling: `${formatMicroseconds(perEvent(before), 1)}, events ${name(before)}`,
      ratio: formatPercent(perEvent(last), perEvent(before)),
      aim: aimAtMost(perEvent(last), perEvent(before), FLAT_PERCENTS),
    },
    {
      what: `backfill, memory, events ${name(last)}`,
      value: formatMegabytes(last.rssBytesMax),
      ceiling: `${formatMegabytes(before.rssBytesMax)}, events ${name(before)}`,
      ratio: formatPercent(last.rssBytesMax, before.rssBytesMax),
      aim: aimAtMost(last.rssBytesMax, before.rssBytesMax, FLAT_PERCENTS),
    },
  ];
}

function memory(rssBytesMax: number, events: number): Headline {
  return {
    what: `backfill, peak memory over ${formatGrouped(events)} events`,
    value: formatMegabytes(rssBytesMax),
    ceiling: formatMegabytes(MEMORY_BYTES_MAX),
    ratio: formatPercent(rssBytesMax, MEMORY_BYTES_MAX),
    aim: aimBelowMemoryMax(rssBytesMax),
  };
}
