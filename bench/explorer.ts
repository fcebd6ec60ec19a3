// Pages of the explorer: the first byte of a cached one, a cold one against the API's reads behind it, and their weight.

import { generateRows } from "./api/api-rows.ts";
import { tableSizes } from "./api/row-generators.ts";
import type { ExplorerLoadReport, ExplorerLoadTask, PageReport } from "./explorer/load-child.ts";
import type { ExplorerReady } from "./explorer/server-child.ts";
import { openBenchDatabase } from "./harness/bench-database.ts";
import {
  type Bench,
  type BenchReport,
  type Headline,
  type Measurement,
  quantilesOf,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { withServer } from "./harness/with-children.ts";

const SCHEMA = "sextant";
const SCALE = 0.1;
const ROUNDS = 30;
const FULL_ROUNDS = 200;
// Over so few rows only whether it runs is of interest.
const TINY = { scale: 0.05, rounds: 2 };
// What a page with charts may weigh, with everything that it loads.
const PAGE_BYTES_MAX = 60_000;

export const explorerBench: Bench = {
  name: "explorer",
  run: ({ full, scale, database: kind }) =>
    withServer(kind, async (start, server) => {
      const place = { connection: server.connection, schema: SCHEMA };
      const database = await openBenchDatabase(place);
      try {
        await generateRows(database, tableSizes(scale ?? (full ? 1 : SCALE)));
      } finally {
        await database.close();
      }
      const ready = await start("api", "explorer/server-child.ts", place).next<ExplorerReady>();
      logProgress("pages");
      const isTiny = scale !== null && scale < TINY.scale;
      const rounds = isTiny ? TINY.rounds : full ? FULL_ROUNDS : ROUNDS;
      const task: ExplorerLoadTask = { ...ready, rounds };
      return toReport(await start("load", "explorer/load-child.ts", task).next<ExplorerLoadReport>());
    }),
};

const milliseconds = (value: number) => `${value.toFixed(2)} ms`;
const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
const ratioOf = ({ cold, reads }: PageReport) => cold.medianMs / reads.medianMs;

function toReport({ pages, left }: ExplorerLoadReport): BenchReport {
  const rows = pages.map(
    (page): Measurement => ({
      what: page.path.replace(/0x[0-9a-f]{10,}/g, "0x…"),
      value: milliseconds(page.cached.medianMs),
      note: `first byte cached, 99th ${milliseconds(page.cached.p99Ms)} | cold ${milliseconds(page.cold.medianMs)}, ${ratioOf(page).toFixed(2)} × its ${page.readCount} reads | ${kilobytes(page.pageBytes)}, with style and modules ${kilobytes(page.allBytes)}`,
    }),
  );
  const skipped =
    left.length === 0
      ? []
      : [{ what: "without rows here", value: String(left.length), note: left.join(", ") }];
  return { measurements: [...rows, ...skipped], headlines: summarize(pages) };
}

function summarize(pages: readonly PageReport[]): readonly Headline[] {
  const [cached, ratio] = [
    quantilesOf(pages.map((page) => page.cached.medianMs)).medianMs,
    quantilesOf(pages.map(ratioOf)).medianMs,
  ];
  const cold = quantilesOf(pages.map((page) => page.cold.medianMs)).medianMs;
  const reads = quantilesOf(pages.map((page) => page.reads.medianMs)).medianMs;
  const heaviest = pages.reduce((most, { allBytes }) => Math.max(most, allBytes), 0);
  return [
    {
      what: "a cached page, first byte",
      value: milliseconds(cached),
      ceiling: `${milliseconds(cold)}: the same page, made again`,
      ratio: `${(cached / cold).toFixed(2)} ×`,
      aim: null,
    },
    {
      what: "a cold page",
      value: milliseconds(cold),
      ceiling: `${milliseconds(reads)}: the reads behind it`,
      ratio: `${ratio.toFixed(2)} ×`,
      aim: null,
    },
    {
      what: "the heaviest page, with style and modules",
      value: kilobytes(heaviest),
      ceiling: `${kilobytes(PAGE_BYTES_MAX)}: what a page with charts may weigh`,
      ratio: `${(heaviest / PAGE_BYTES_MAX).toFixed(2)} ×`,
      aim: { text: `at most ${kilobytes(PAGE_BYTES_MAX)}`, met: heaviest <= PAGE_BYTES_MAX },
    },
  ];
}
