// How a backfill's cost grows with the history: one long run, looked at decade by decade.

import { fill, startNode } from "../backfill/run-backfill.ts";
import type { BenchServer } from "../harness/bench-database.ts";
import {
  atMost,
  type BenchReport,
  belowMemoryMax,
  grouped,
  type Headline,
  MEMORY_BYTES_MAX,
  megabytes,
  microseconds,
  percent,
} from "../harness/measurement.ts";
import type { Start } from "../harness/with-children.ts";
import { boundsOf, type Decade, decadesOf } from "./decades.ts";

export type BackfillGrowthTask = { readonly seed: number; readonly events: number };

// What is flat may seem a fifth steeper when the machine looks away.
const FLAT_PERCENTS = 120;

export async function measureBackfillGrowth(
  start: Start,
  server: BenchServer,
  { seed, events }: BackfillGrowthTask,
): Promise<BenchReport> {
  const { node, stop } = await startNode(start, { seed, events });
  const place = { connection: server.connection, schema: "backfill" };
  const filled = await fill(start, { ...place, url: node.url, seed, events: node.events, head: node.head });
  await stop();
  const decades = decadesOf(filled.marks, boundsOf(events));
  return {
    measurements: decades.map((decade) => ({
      what: `backfill, events ${grouped(decade.from)} to ${grouped(decade.to)}`,
      value: microseconds(perEvent(decade), 1),
      note: `each; ${microseconds(decade.cpuMs / eventsIn(decade), 1)} of processor time, memory at most ${megabytes(decade.rssBytesMax)}`,
    })),
    headlines: [...flatness(decades), memory(filled.rssBytesMax, filled.events)],
  };
}

const eventsIn = ({ from, to }: Decade): number => to - from;
const perEvent = (decade: Decade): number => decade.ms / eventsIn(decade);

/** The last decade against the one before it: the first is mostly the compiler's. */
function flatness(decades: readonly Decade[]): Headline[] {
  const [before, last] = decades.slice(-2);
  if (!before || !last) return [];
  const name = ({ from, to }: Decade) => `${grouped(from)} to ${grouped(to)}`;
  return [
    {
      what: `backfill, time per event, events ${name(last)}`,
      value: microseconds(perEvent(last), 1),
      ceiling: `${microseconds(perEvent(before), 1)}, events ${name(before)}`,
      ratio: percent(perEvent(last), perEvent(before)),
      aim: atMost(perEvent(last), perEvent(before), FLAT_PERCENTS),
    },
    {
      what: `backfill, memory, events ${name(last)}`,
      value: megabytes(last.rssBytesMax),
      ceiling: `${megabytes(before.rssBytesMax)}, events ${name(before)}`,
      ratio: percent(last.rssBytesMax, before.rssBytesMax),
      aim: atMost(last.rssBytesMax, before.rssBytesMax, FLAT_PERCENTS),
    },
  ];
}

function memory(rssBytesMax: number, events: number): Headline {
  return {
    what: `backfill, peak memory over ${grouped(events)} events`,
    value: megabytes(rssBytesMax),
    ceiling: megabytes(MEMORY_BYTES_MAX),
    ratio: percent(rssBytesMax, MEMORY_BYTES_MAX),
    aim: belowMemoryMax(rssBytesMax),
  };
}
