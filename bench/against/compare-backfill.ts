// The backfill of one history by two versions, in turns, on the same node and the same database server.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startReplayNodeChild } from "../backfill/run-backfill.ts";
import {
  type BenchOptions,
  formatGrouped,
  formatMegabytes,
  formatMicroseconds,
  type Measurement,
} from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import { withServer } from "../harness/with-children.ts";
import { historyChain } from "../history/history.ts";
import { compareRuns, type Figure, type TurnRun } from "./comparison.ts";
import { type IndexingCosts, indexHistory } from "./index-history.ts";
import { prepareProgram } from "./program-of-version.ts";
import { createRunDatabase } from "./run-database.ts";
import { TURNS, type Versions } from "./versions.ts";

// As the benchmark of a backfill has.
const EVENTS = 200_000;

type BackfillRun = IndexingCosts & { readonly expected: number };

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const perEvent = (value: number) => value.toFixed(2);
const subtract = (whole: number | null, part: number | null) =>
  whole === null || part === null ? null : whole - part;
const divide = (value: number | null, events: number) => (value === null ? null : value / events);

const FIGURES: readonly Figure<BackfillRun>[] = [
  { what: "time, start included", of: ({ ms }) => ms, format: seconds },
  { what: "  start, until it listens", of: ({ startMs }) => startMs, format: seconds },
  {
    what: "  after the start, per event",
    of: ({ ms, startMs, expected }) => (ms - startMs) / expected,
    format: (ms) => formatMicroseconds(ms, 1),
  },
  { what: "indexer, processor time", of: ({ cpuMs }) => cpuMs, format: seconds },
  {
    what: "  after the start, per event",
    of: ({ cpuMs, startCpuMs, expected }) => divide(subtract(cpuMs, startCpuMs), expected),
    format: (ms) => formatMicroseconds(ms, 1),
  },
  { what: "database, processor time", of: ({ databaseCpuMs }) => databaseCpuMs, format: seconds },
  {
    what: "  per event",
    of: ({ databaseCpuMs, expected }) => divide(databaseCpuMs, expected),
    format: (ms) => formatMicroseconds(ms, 1),
  },
  {
    what: "WAL bytes per event",
    of: ({ walBytes, expected }) => walBytes / expected,
    format: formatGrouped,
  },
  {
    what: "rows written per event",
    of: ({ rowsWritten, expected }) => rowsWritten / expected,
    format: perEvent,
  },
  {
    what: "stored bytes per event",
    of: ({ storedBytes, expected }) => storedBytes / expected,
    format: formatGrouped,
  },
  { what: "indexer, peak memory", of: ({ peakBytes }) => peakBytes, format: formatMegabytes },
  { what: "events", of: ({ events }) => events, format: formatGrouped },
];

export function compareBackfills(
  { database: kind, seed, events }: BenchOptions,
  versions: Versions,
): Promise<readonly Measurement[]> {
  return withServer(kind, async (start, server) => {
    const { node, stop } = await startReplayNodeChild(start, { seed, events: events ?? EVENTS });
    const folder = join(server.folder, "indexer");
    await mkdir(folder);
    const deploymentFile = join(folder, "deployment.json");
    await writeFile(deploymentFile, JSON.stringify(historyChain(seed).deployment));
    const programs = {
      before: await prepareProgram(versions.before),
      now: await prepareProgram(versions.now),
    };
    const runs: TurnRun<BackfillRun>[] = [];
    for (const [turn, name] of TURNS.entries()) {
      logProgress(`turn ${turn + 1} of ${TURNS.length}: ${name}`);
      const database = await createRunDatabase(server.connection, `turn_${turn + 1}`);
      const history = { nodeUrl: node.url, head: node.head, deploymentFile, folder };
      try {
        const costs = await indexHistory(programs[name], history, database);
        runs.push({ version: name, run: { ...costs, expected: node.events } });
      } finally {
        await database.drop();
      }
    }
    await stop();
    return compareRuns(FIGURES, runs);
  });
}
