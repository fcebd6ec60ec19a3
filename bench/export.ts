// How fast an index is exported, how large the files are, and whether memory stays the same for ten times the events.
import { join } from "node:path";
import type { ExportReport, ExportTask } from "./export/export-child.ts";
import { growIndex } from "./growth/grow-index.ts";
import type { BenchServer } from "./harness/bench-database.ts";
import {
  aimBelowMemoryMax,
  type Bench,
  type BenchOptions,
  type BenchReport,
  formatGrouped,
  formatMegabytes,
  formatPercent,
  formatPerSecond,
  MEMORY_BYTES_MAX,
  type Measurement,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { type StartChild, withServer } from "./harness/with-children.ts";

const SCHEMA = "sextant";
// The larger of two sizes; the other is its tenth.
const EVENTS = 1_000_000;
const MILLION = 1_000_000;

export const exportBench: Bench = {
  name: "export",
  run: (options) => withServer(options.database, (start, server) => measure(options, server, start)),
};

async function measure(
  { seed, events: wanted, quick }: BenchOptions,
  server: BenchServer,
  start: StartChild,
): Promise<BenchReport> {
  const events = wanted ?? EVENTS;
  const place = { connection: server.connection, schema: SCHEMA };
  const reports: ExportReport[] = [];
  for (const until of quick ? [events] : [Math.ceil(events / 10), events]) {
    await growIndex(start, place, { seed, events, until });
    logProgress(`export of ${formatGrouped(until)} events`);
    const task: ExportTask = { ...place, folder: join(server.folder, `exported-${until}`) };
    const child = start("export", "export/export-child.ts", task);
    reports.push(await child.next<ExportReport>());
    await child.stop();
  }
  const rssBytesMax = Math.max(...reports.map((report) => report.rssBytesMax));
  return {
    measurements: reports.flatMap(measurementsOf),
    headlines: [
      {
        what: "peak memory",
        value: formatMegabytes(rssBytesMax),
        ceiling: formatMegabytes(MEMORY_BYTES_MAX),
        ratio: formatPercent(rssBytesMax, MEMORY_BYTES_MAX),
        aim: aimBelowMemoryMax(rssBytesMax),
      },
    ],
  };
}

function measurementsOf(report: ExportReport): Measurement[] {
  const { events, rows, files, bytes, largestFileBytes, ms, rssBytesMax } = report;
  const at = `at ${formatGrouped(events)} events`;
  return [
    {
      what: `rows/s ${at}`,
      value: formatGrouped(formatPerSecond(rows, ms)),
      note: `${formatGrouped(rows)} rows of logs, blocks and tables; ${formatGrouped(formatPerSecond(events, ms))} events/s`,
    },
    { what: `bytes per event ${at}`, value: formatGrouped(bytes / events), note: "all tables, compressed" },
    {
      what: `files ${at}`,
      value: formatGrouped(files),
      note: `${formatGrouped((files / events) * MILLION)} per million events; the largest has ${formatMegabytes(largestFileBytes)}`,
    },
    {
      what: `peak memory ${at}`,
      value: formatMegabytes(rssBytesMax),
      note: `the process of the export; aim: below ${formatMegabytes(MEMORY_BYTES_MAX)}`,
    },
  ];
}
