// Pages of the explorer: the first byte of a cached one, a cold one against the API's reads behind it, and their weight.

import { generateRows } from "./api/api-rows.ts";
import { tableSizes } from "./api/row-generators.ts";
import type { ExplorerLoadReport, ExplorerLoadTask, PageReport } from "./explorer/load-child.ts";
import type { ExplorerReady } from "./explorer/server-child.ts";
import { openBenchDatabase } from "./harness/bench-database.ts";
import { type Bench, type BenchReport, type Headline, quantilesOf } from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { withServer } from "./harness/with-children.ts";

const SCHEMA = "sextant";
const SCALE = 0.1;
const ROUNDS = 30;
const FULL_ROUNDS = 200;
// Over so few rows only whether it runs is of interest.
const TINY = { scale: 0.05, rounds: 2 };
// The promises about every page: its first byte from the cache, how much longer than its reads it takes when it is made
// again, and what it weighs with everything that it loads.
const CACHED_MS_MAX = 5;
const COLD_RATIO_MAX = 3;
const PAGE_BYTES_MAX = 30_000;
const CHART_PAGE_BYTES_MAX = 60_000;

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
const nameOf = ({ path }: PageReport) => path.replace(/0x[0-9a-f]{10,}/g, "0x…");
const ratioOf = ({ cold, reads }: PageReport) => cold.medianMs / reads.medianMs;
const bytesMaxOf = ({ hasCharts }: PageReport) => (hasCharts ? CHART_PAGE_BYTES_MAX : PAGE_BYTES_MAX);

const isCachedFast = ({ isCached, cached }: PageReport) => !isCached || cached.medianMs < CACHED_MS_MAX;
const isColdFast = (page: PageReport) => ratioOf(page) < COLD_RATIO_MAX;
const isLight = (page: PageReport) => page.allBytes <= bytesMaxOf(page);

function toReport({ pages, left }: ExplorerLoadReport): BenchReport {
  const rows = pages.map((page) => ({
    what: nameOf(page),
    value: page.isCached ? milliseconds(page.cached.medianMs) : "-",
    note: describePage(page),
  }));
  const skipped =
    left.length === 0
      ? []
      : [{ what: "without rows here", value: String(left.length), note: left.join(", ") }];
  return { measurements: [...rows, ...skipped], headlines: summarize(pages) };
}

/** Each of what is promised, and whether it is met. */
function describePage(page: PageReport): string {
  const { isCached, cached, cold, reads, readCount, pageBytes, allBytes, hasCharts } = page;
  const met = (isMet: boolean) => (isMet ? "met" : "NOT MET");
  const hot = isCached
    ? `first byte cached, 99th ${milliseconds(cached.p99Ms)}: ${met(isCachedFast(page))}`
    : "never cached";
  const made = `cold ${milliseconds(cold.medianMs)}, ${ratioOf(page).toFixed(2)} × its ${readCount} reads of ${milliseconds(reads.medianMs)}: ${met(isColdFast(page))}`;
  const weight = `${kilobytes(pageBytes)}, with style and modules ${kilobytes(allBytes)}${hasCharts ? ", charts" : ""}: ${met(isLight(page))}`;
  return `${hot} | ${made} | ${weight}`;
}

/** The page with the highest of something; null of no pages. */
function worstOf(pages: readonly PageReport[], of: (page: PageReport) => number): PageReport | null {
  return pages.reduce<PageReport | null>(
    (worst, page) => (worst === null || of(page) > of(worst) ? page : worst),
    null,
  );
}

function summarize(pages: readonly PageReport[]): readonly Headline[] {
  const cached = pages.filter(({ isCached }) => isCached);
  const slowest = worstOf(cached, (page) => page.cached.medianMs);
  const dearest = worstOf(pages, ratioOf);
  const [plain, charts] = [false, true].map((wanted) =>
    worstOf(
      pages.filter(({ hasCharts }) => hasCharts === wanted),
      ({ allBytes }) => allBytes,
    ),
  );
  return [
    ...(slowest ? [headlineOfCached(slowest, cached.length)] : []),
    ...(dearest ? [headlineOfMedian(pages), headlineOfCold(dearest, pages.length)] : []),
    ...[plain, charts].flatMap((page) => (page ? [headlineOfWeight(page)] : [])),
  ];
}

function headlineOfCached(page: PageReport, count: number): Headline {
  const { cached, cold } = page;
  return {
    what: `a cached page, first byte, slowest of ${count}: ${nameOf(page)}`,
    value: milliseconds(cached.medianMs),
    ceiling: `${milliseconds(cold.medianMs)}: the same page, made again`,
    ratio: `${(cached.medianMs / cold.medianMs).toFixed(2)} ×`,
    aim: { text: `below ${CACHED_MS_MAX} ms`, met: isCachedFast(page) },
  };
}

function headlineOfMedian(pages: readonly PageReport[]): Headline {
  const medianOf = (of: (page: PageReport) => number) => quantilesOf(pages.map(of)).medianMs;
  return {
    what: `a cold page, medians of ${pages.length}`,
    value: milliseconds(medianOf(({ cold }) => cold.medianMs)),
    ceiling: `${milliseconds(medianOf(({ reads }) => reads.medianMs))}: the reads behind it`,
    ratio: `${medianOf(ratioOf).toFixed(2)} ×`,
    aim: null,
  };
}

function headlineOfCold(page: PageReport, count: number): Headline {
  return {
    what: `a cold page, highest ratio of ${count}: ${nameOf(page)}`,
    value: milliseconds(page.cold.medianMs),
    ceiling: `${milliseconds(page.reads.medianMs)}: the ${page.readCount} reads behind it`,
    ratio: `${ratioOf(page).toFixed(2)} ×`,
    aim: { text: `below ${COLD_RATIO_MAX} ×`, met: isColdFast(page) },
  };
}

function headlineOfWeight(page: PageReport): Headline {
  const bytesMax = bytesMaxOf(page);
  const kind = page.hasCharts ? "with" : "without";
  return {
    what: `the heaviest page ${kind} charts, style and modules included: ${nameOf(page)}`,
    value: kilobytes(page.allBytes),
    ceiling: `${kilobytes(bytesMax)}: what a page ${kind} charts may weigh`,
    ratio: `${(page.allBytes / bytesMax).toFixed(2)} ×`,
    aim: { text: `at most ${kilobytes(bytesMax)}`, met: isLight(page) },
  };
}
