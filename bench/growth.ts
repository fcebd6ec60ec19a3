// How cost grows: one index from a hundredth of its events to all of them, reads over ever more rows, and connections from one to sixty-four.

import { measureApiGrowth } from "./growth/api-growth.ts";
import { measureConnectionGrowth } from "./growth/connection-growth.ts";
import { decadeBounds } from "./growth/decades.ts";
import { measureIndexGrowth } from "./growth/index-growth.ts";
import { type BenchServer, startKeptServer } from "./harness/bench-database.ts";
import { type Bench, type BenchOptions, type BenchReport, chooseSize } from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { type StartChild, withChildren, withServer } from "./harness/with-children.ts";

// The last of three sizes; the others are its hundredth and its tenth.
const EVENTS = 1_000_000;
// The index stays the same while connections grow: large enough to behave like a larger one.
const EVENTS_UNDER_CONNECTIONS = 0.1;
const ROUNDS = { quick: 1, usual: 3, full: 3 };
const MS_PER_CELL = { quick: 20, usual: 500, full: 1_000 };
const CONNECTIONS = { quick: [1, 4], usual: [1, 4, 16, 64], full: [1, 4, 16, 64] };
const REQUESTS_PER_READ = { quick: 1, usual: 12, full: 12 };

export const growthBench: Bench = {
  name: "growth",
  parts: ["index", "api", "connections"],
  async run(options) {
    // A server for each: what one has left behind must not slow the next.
    const reports: BenchReport[] = [];
    for (const [name, measure] of Object.entries(measures(options))) {
      if (options.part !== null && options.part !== name) continue;
      logProgress(`growth: ${name}`);
      const isKept = name === "index" && options.folder !== null;
      reports.push(
        isKept ? await withKeptServer(options.folder ?? "", measure) : await withServer("embedded", measure),
      );
    }
    return {
      measurements: reports.flatMap(({ measurements }) => measurements),
      headlines: reports.flatMap(({ headlines }) => headlines),
    };
  },
};

type Measure = (start: StartChild, server: BenchServer) => Promise<BenchReport>;

async function withKeptServer(folder: string, measure: Measure): Promise<BenchReport> {
  const server = await startKeptServer(folder);
  try {
    return await withChildren((start) => measure(start, server));
  } finally {
    await server.stop();
  }
}

function measures(options: BenchOptions): Readonly<Record<string, Measure>> {
  const { seed, full, quick } = options;
  const events = options.events ?? EVENTS;
  const bounds = decadeBounds(events).slice(quick ? 1 : 0);
  const times = { rounds: chooseSize(options, ROUNDS), msPerCell: chooseSize(options, MS_PER_CELL) };
  const requestsPerRead = chooseSize(options, REQUESTS_PER_READ);
  return {
    index: (start, server) => measureIndexGrowth(start, server, { seed, bounds, full, requestsPerRead }),
    api: (start, server) =>
      measureApiGrowth(start, server, { bounds: bounds.slice(quick ? -1 : 0), ...times }),
    connections: (start, server) =>
      measureConnectionGrowth(start, server, {
        events: events * EVENTS_UNDER_CONNECTIONS,
        connections: chooseSize(options, CONNECTIONS),
        ...times,
      }),
  };
}
