// How cost grows: one index from a hundredth of its events to all of them, reads over ever more rows, and connections from one to sixty-four.

import { measureApiGrowth } from "./growth/api-growth.ts";
import { measureConnectionGrowth } from "./growth/connection-growth.ts";
import { measureIndexGrowth } from "./growth/index-growth.ts";
import { type BenchServer, startKeptServer } from "./harness/bench-database.ts";
import type { Bench, BenchOptions, BenchReport } from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { type StartChild, withChildren, withServer } from "./harness/with-children.ts";

// The last of three sizes; the others are its hundredth and its tenth.
const EVENTS = 1_000_000;
// The index stays the same while connections grow: large enough to behave like a larger one.
const EVENTS_UNDER_CONNECTIONS = 0.1;
const ROUNDS = 3;
const MS_PER_CELL = 500;
const FULL_MS_PER_CELL = 1_000;

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

function measures({ seed, events: wanted, full }: BenchOptions): Readonly<Record<string, Measure>> {
  const events = wanted ?? EVENTS;
  const times = { rounds: ROUNDS, msPerCell: full ? FULL_MS_PER_CELL : MS_PER_CELL };
  return {
    index: (start, server) => measureIndexGrowth(start, server, { seed, events, full }),
    api: (start, server) => measureApiGrowth(start, server, { events, ...times }),
    connections: (start, server) =>
      measureConnectionGrowth(start, server, { events: events * EVENTS_UNDER_CONNECTIONS, ...times }),
  };
}
