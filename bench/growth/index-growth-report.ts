// Reports the growth of an index: figures of every size side by side, and what was not flat.
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
  type Measurement,
} from "../harness/measurement.ts";
import type { GrowthStage, MeasuredIndex } from "./growth-stage.ts";

type Figures = (index: MeasuredIndex) => string;

const TABLES_SHOWN = 12;
const READS_SHOWN = 20;
// The growth that the visited rows explain; beyond it a read visits more rows than it returns.
const FLAT_PERCENTS = 200;
const BYTES_PERCENTS = 120;

const tableBytes = ({ tables }: MeasuredIndex, name: string) => tables.find((table) => table.name === name);
const allBytes = ({ tables }: MeasuredIndex): number =>
  tables.reduce((sum, { heap, indexes, toast }) => sum + heap + indexes + toast, 0);
const milliseconds = (ms: number) => `${ms.toFixed(1)} ms`;

export function reportIndexGrowth(stages: readonly GrowthStage[]): BenchReport {
  const sizes = stages.flatMap(({ measured }) => (measured ? [measured] : []));
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (!first || !last) throw new Error("nothing was measured");
  const row = (what: string, figures: Figures): Measurement => {
    const [, ...rest] = sizes.map(figures);
    return { what, value: figures(first), note: rest.join(" | ") };
  };
  return {
    measurements: [
      row("index, events", ({ events, load }) => `${formatGrouped(events)}, load ${load.toFixed(0)}`),
      ...stages.map(describeFill),
      row("  bytes per event", (index) => formatGrouped(allBytes(index) / index.events)),
      ...last.tables.slice(0, TABLES_SHOWN).map(({ name }) => row(`    ${name}`, bytesOf(name))),
      row("  rollback", ({ rollback }) =>
        rollback ? `${milliseconds(rollback.ms)}, ${rollback.blocks} blocks` : "-",
      ),
      ...last.vacuumed.map(({ name }) => row(`  vacuum of ${name}`, vacuumOf(name))),
      row("  rebuild, per event", ({ rebuild }) =>
        rebuild
          ? `${formatMicroseconds(rebuild.ms / rebuild.logs, 1)}, memory ${formatMegabytes(rebuild.rssBytesMax)}`
          : "-",
      ),
      ...placesOf(last).map((place) => row(`  reads ${place}, median and slowest`, latenciesAt(place))),
      ...last.reads.filter(isAggregate).map(({ name }) => row(`  ${name}`, readOf(name))),
      row("  the reads that grow most", () => ""),
      ...steepestReads(first, last).map((name) => row(`  ${name}`, readOf(name))),
    ],
    headlines: [...sizeHeadlines(first, last), memoryHeadline(stages), pagesHeadline(first, last)],
  };
}

function describeFill({ filled }: GrowthStage): Measurement {
  const { from, to, ms, cpuMs, rssBytesMax, startMs, live } = filled;
  const events = Math.max(1, to - from);
  return {
    what: `  backfill, events ${formatGrouped(from)} to ${formatGrouped(to)}`,
    value: formatMicroseconds(ms / events, 1),
    note: `each; ${formatMicroseconds(cpuMs / events, 1)} of processor time, memory at most ${formatMegabytes(rssBytesMax)}, start ${milliseconds(startMs)}, a block at the head ${milliseconds(live.ms / Math.max(1, live.blocks))}`,
  };
}

const bytesOf =
  (name: string): Figures =>
  (index) => {
    const { heap, indexes, toast } = tableBytes(index, name) ?? { heap: 0, indexes: 0, toast: 0 };
    const each = (bytes: number) => formatGrouped(bytes / index.events);
    return `${each(heap)} heap, ${each(indexes)} index, ${each(toast)} toast`;
  };

const vacuumOf =
  (name: string): Figures =>
  ({ vacuumed }) => {
    const found = vacuumed.find((table) => table.name === name);
    return found ? `${milliseconds(found.ms)}, again ${milliseconds(found.againMs)}` : "-";
  };

const readOf =
  (name: string): Figures =>
  ({ reads }) => {
    const found = reads.find((read) => read.name === name);
    if (!found) return "-";
    const pages = found.pages === null ? "" : `, ${formatGrouped(found.pages)} pages`;
    return `${milliseconds(found.medianMs)}${pages}${found.failed > 0 ? `, ${found.failed} failed` : ""}`;
  };

const NEWEST = "of the newest block";

const placeOf = (name: string): string => {
  const at = name.indexOf(", block ");
  return at < 0 ? NEWEST : `of the block ${name.slice(at + ", block ".length)}`;
};

const placesOf = ({ reads }: MeasuredIndex): string[] => [...new Set(reads.map(({ name }) => placeOf(name)))];

const latenciesAt =
  (place: string): Figures =>
  ({ reads }) => {
    const times = reads.filter(({ name }) => placeOf(name) === place).map(({ medianMs }) => medianMs);
    const sorted = times.sort((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    return `${milliseconds(median)}, ${milliseconds(sorted.at(-1) ?? Number.NaN)}`;
  };

const isAggregate = ({ name }: MeasuredIndex["reads"][number]): boolean =>
  /^\/(analytics|totals)/.test(name) && placeOf(name) === NEWEST;

/** Compared by the pages that they visit, or by their time if they are more than a statement. */
function steepestReads(first: MeasuredIndex, last: MeasuredIndex): string[] {
  const growthOf = ({ name, pages, medianMs }: MeasuredIndex["reads"][number]): number => {
    const before = first.reads.find((read) => read.name === name);
    if (!before) return 0;
    return pages === null || before.pages === null ? medianMs / before.medianMs : pages / before.pages;
  };
  return [...last.reads]
    .sort((one, other) => growthOf(other) - growthOf(one))
    .slice(0, READS_SHOWN)
    .map(({ name }) => name);
}

function sizeHeadlines(first: MeasuredIndex, last: MeasuredIndex): Headline[] {
  const [before, after] = [allBytes(first) / first.events, allBytes(last) / last.events];
  return [
    {
      what: `index, bytes per event over ${formatGrouped(last.events)} events`,
      value: formatGrouped(after),
      ceiling: `${formatGrouped(before)} over ${formatGrouped(first.events)}`,
      ratio: formatPercent(after, before),
      aim: aimAtMost(after, before, BYTES_PERCENTS),
    },
  ];
}

function memoryHeadline(stages: readonly GrowthStage[]): Headline {
  const rssBytesMax = Math.max(...stages.map(({ filled }) => filled.rssBytesMax));
  const events = Math.max(...stages.map(({ filled }) => filled.to));
  return {
    what: `index, peak memory of the indexer over ${formatGrouped(events)} events`,
    value: formatMegabytes(rssBytesMax),
    ceiling: formatMegabytes(MEMORY_BYTES_MAX),
    ratio: formatPercent(rssBytesMax, MEMORY_BYTES_MAX),
    aim: aimBelowMemoryMax(rssBytesMax),
  };
}

/** Pages do not depend on what else the machine does. */
function pagesHeadline(first: MeasuredIndex, last: MeasuredIndex): Headline {
  const medianOf = ({ reads }: MeasuredIndex): number => {
    const now = reads.flatMap(({ name, pages }) =>
      pages === null || name.includes(", block") ? [] : [pages],
    );
    return now.sort((one, other) => one - other)[Math.floor(now.length / 2)] ?? Number.NaN;
  };
  const [before, after] = [medianOf(first), medianOf(last)];
  return {
    what: `index, pages of the median read of the newest block over ${formatGrouped(last.events)} events`,
    value: formatGrouped(after),
    ceiling: `${formatGrouped(before)} over ${formatGrouped(first.events)}`,
    ratio: formatPercent(after, before),
    aim: aimAtMost(after, before, FLAT_PERCENTS),
  };
}
