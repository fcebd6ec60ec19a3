// Reports the benchmark of replicas: ratios to reads and writes without a replica, in the same run.
import {
  type BenchReport,
  formatGrouped,
  formatMicroseconds,
  formatPercent,
  formatPerSecond,
  type Headline,
  type Measurement,
} from "../harness/measurement.ts";
import { READ_CONNECTIONS, type ReadCell } from "./measure-reads.ts";
import { describeReaders, type WriterCell } from "./measure-writer.ts";
import { MIXED } from "./read-paths.ts";

export function reportReplicas(reads: readonly ReadCell[], writes: readonly WriterCell[]): BenchReport {
  const mixed = reads.filter(({ kind }) => kind === MIXED);
  return {
    measurements: [
      {
        what: `cold reads, ${READ_CONNECTIONS} connections`,
        value: "req/s",
        note: "of no replica | processor time per read: API, primary, replicas | reads on the primary | computed: req/s until a core of the primary is full",
      },
      ...reads.map((cell) => describeReads(cell, findWithout(reads, cell.kind))),
      {
        what: "writer",
        value: "events/s",
        note: "of no reads | mixed req/s meanwhile, of them on the primary | cores used: primary, replicas together | replicas at the end behind by",
      },
      ...writes.map((cell) => describeWriter(cell, writes[0] ?? cell)),
    ],
    headlines: [
      ...compareReads(mixed),
      ...writes.slice(1).map((cell) => compareWriter(cell, writes[0] ?? cell)),
    ],
  };
}

const rateOf = ({ requests, ms }: ReadCell): number => formatPerSecond(requests, ms);
const writtenRate = ({ events, ms }: WriterCell): number => formatPerSecond(events, ms);

function findWithout(reads: readonly ReadCell[], kind: string): ReadCell {
  const found = reads.find((cell) => cell.kind === kind && cell.replicas === 0);
  if (!found) throw new Error(`${kind} was not measured without replicas`);
  return found;
}

/** Reads a second with which the primary would use one core; null if it is unknown or used none. */
function fillingRate({ requests, primaryMs }: ReadCell): number | null {
  return primaryMs === null || primaryMs === 0 ? null : (requests / primaryMs) * 1_000;
}

function describeReads(cell: ReadCell, without: ReadCell): Measurement {
  const { kind, replicas, requests, cpuMs, primaryMs, replicasMs, primaryReads } = cell;
  const times = [cpuMs, primaryMs, replicasMs].map((ms) =>
    (ms === null ? "-" : formatMicroseconds(ms / requests, 0)).padStart(8),
  );
  const filling = fillingRate(cell);
  return {
    what: `  ${kind}, ${describeReplicas(replicas)}`,
    value: formatGrouped(rateOf(cell)),
    note: [
      formatPercent(rateOf(cell), rateOf(without)).padStart(13),
      times.join(""),
      formatPercent(primaryReads, requests).padStart(5),
      (filling === null ? "-" : formatGrouped(filling)).padStart(9),
    ].join(" | "),
  };
}

function describeReplicas(replicas: number): string {
  return replicas === 0 ? "no replica" : `${replicas} replica${replicas === 1 ? "" : "s"}`;
}

function compareReads(mixed: readonly ReadCell[]): Headline[] {
  const without = findWithout(mixed, MIXED);
  const withReplicas = mixed.filter(({ replicas }) => replicas > 0);
  const rates = withReplicas.map((cell) => ({
    what: `${MIXED} cold reads, ${describeReplicas(cell.replicas)}`,
    value: `${formatGrouped(rateOf(cell))} req/s`,
    ceiling: `${formatGrouped(rateOf(without))} without a replica`,
    ratio: formatPercent(rateOf(cell), rateOf(without)),
    aim: null,
  }));
  const whole = fillingRate(without);
  const ceilings = withReplicas.flatMap((cell) => {
    const filling = fillingRate(cell);
    if (filling === null || whole === null) return [];
    return {
      what: `the same until a core of the primary is full, computed, ${describeReplicas(cell.replicas)}`,
      value: `${formatGrouped(filling)} req/s`,
      ceiling: `${formatGrouped(whole)} without a replica`,
      ratio: `${(filling / whole).toFixed(1)} ×`,
      aim: null,
    };
  });
  return [...rates, ...ceilings];
}

function describeWriter(cell: WriterCell, alone: WriterCell): Measurement {
  const { observed, behindMs } = cell;
  const { requests, ms, primaryReads } = observed;
  const cores = [observed.primaryMs, observed.replicasMs].map((spent) =>
    (spent === null ? "-" : (spent / ms).toFixed(2)).padStart(6),
  );
  const shared = requests === 0 ? "-" : formatPercent(primaryReads, requests);
  return {
    what: `  ${describeReaders(cell.replicas)}`,
    value: formatGrouped(writtenRate(cell)),
    note: [
      formatPercent(writtenRate(cell), writtenRate(alone)).padStart(11),
      `${formatGrouped(formatPerSecond(requests, ms)).padStart(6)}, ${shared.padStart(5)}`,
      cores.join(""),
      `${formatGrouped(behindMs)} ms`,
    ].join(" | "),
  };
}

function compareWriter(cell: WriterCell, alone: WriterCell): Headline {
  return {
    what: `writer, full ${describeReaders(cell.replicas)}`,
    value: `${formatGrouped(writtenRate(cell))} events/s`,
    ceiling: `${formatGrouped(writtenRate(alone))} without reads`,
    ratio: formatPercent(writtenRate(cell), writtenRate(alone)),
    aim: null,
  };
}
