// Reports what several processes of the portfolio service gain and lose: ratios to one process, and to one request at a time.
import {
  type BenchReport,
  formatGrouped,
  formatPercent,
  type Headline,
  type Measurement,
} from "../harness/measurement.ts";
import {
  PROCESSES_TOKENS,
  type ProcessesCell,
  type ProcessesSeries,
  READ_WALLETS,
  type ReadWallets,
} from "./measure-processes.ts";

export function reportProcesses(
  cells: readonly ProcessesCell[],
  { delayMs }: { readonly delayMs: number },
): BenchReport {
  const inSeries = (series: ProcessesSeries, wallets: ReadWallets) =>
    cells.filter((cell) => cell.series === series && cell.wallets === wallets);
  const findFirst = (series: ProcessesSeries, wallets: ReadWallets) => {
    const [first] = inSeries(series, wallets);
    if (!first) throw new Error(`there are no ${wallets}`);
    return first;
  };
  const firstOf = ({ series, wallets }: ProcessesCell) => findFirst(series, wallets);
  // One wallet shares reads with itself, also one after the other.
  const alone = findFirst("at once", "different wallets");
  const laterOf = (series: ProcessesSeries, wallets: ReadWallets) => inSeries(series, wallets).slice(1);
  return {
    measurements: [
      {
        what: "processes, without payment",
        value: "snapshots/s",
        note: `of the first | node requests per snapshot, per second | processor time per snapshot: service, node; ${formatGrouped(PROCESSES_TOKENS)} tokens on 1 chain, every response of the node ${delayMs} ms late`,
      },
      ...cells.map((cell) => describeCell(cell, firstOf(cell))),
    ],
    headlines: [
      ...(["different wallets", "returning wallets"] as const).flatMap((wallets) =>
        laterOf("processes", wallets).map((cell) => compareRates(cell, firstOf(cell))),
      ),
      ...laterOf("processes", "one wallet").map((cell) => compareNodeRates(cell, firstOf(cell))),
      ...READ_WALLETS.flatMap((wallets) => laterOf("at once", wallets)).map((cell) =>
        compareRequests(cell, alone),
      ),
    ],
  };
}

const perSecond = (count: number, { ms }: ProcessesCell): number => (count / ms) * 1_000;
const rateOf = (cell: ProcessesCell): number => perSecond(cell.snapshots, cell);
const nodeRateOf = (cell: ProcessesCell): number => perSecond(cell.nodeRequests, cell);
const requestsOf = ({ nodeRequests, snapshots }: ProcessesCell): number => nodeRequests / snapshots;

const describeProcesses = (count: number): string => `${count} process${count === 1 ? "" : "es"}`;
const formatRate = (rate: number): string => (rate < 100 ? rate.toFixed(1) : formatGrouped(rate));
const formatRequests = (requests: number): string => requests.toFixed(requests < 1 ? 3 : 1);

function describeCell(cell: ProcessesCell, first: ProcessesCell): Measurement {
  const { processes, connections, wallets, snapshots, cpuMs, nodeCpuMs } = cell;
  const times = [cpuMs, nodeCpuMs].map((ms) => `${(ms / snapshots).toFixed(2)} ms`.padStart(10));
  return {
    what: `  ${describeProcesses(processes)}, ${connections} at once, ${wallets}`,
    value: formatRate(rateOf(cell)),
    note: [
      formatPercent(rateOf(cell), rateOf(first)).padStart(12),
      formatRequests(requestsOf(cell)).padStart(6) + formatGrouped(nodeRateOf(cell)).padStart(8),
      times.join(""),
    ].join(" | "),
  };
}

/** The aim of two processes together, each on a core. */
const RATE_MIN = 100;

function compareRates(cell: ProcessesCell, one: ProcessesCell): Headline {
  const hasAim = cell.wallets === "different wallets" && cell.processes === 2;
  return {
    what: `snapshots of ${cell.wallets} without payment, ${describeProcesses(cell.processes)}`,
    value: `${formatRate(rateOf(cell))} a second`,
    ceiling: `${formatRate(rateOf(one))} by one process`,
    ratio: formatPercent(rateOf(cell), rateOf(one)),
    aim: hasAim ? { text: `${RATE_MIN} or more`, met: rateOf(cell) >= RATE_MIN } : null,
  };
}

function compareNodeRates(cell: ProcessesCell, one: ProcessesCell): Headline {
  return {
    what: `node requests for ${cell.wallets}, ${describeProcesses(cell.processes)}`,
    value: `${formatRate(nodeRateOf(cell))} a second`,
    ceiling: `${formatRate(nodeRateOf(one))} by one process`,
    ratio: formatPercent(nodeRateOf(cell), nodeRateOf(one)),
    aim: null,
  };
}

function compareRequests(cell: ProcessesCell, alone: ProcessesCell): Headline {
  return {
    what: `node requests per snapshot, ${cell.connections} at once of ${cell.wallets}`,
    value: formatRequests(requestsOf(cell)),
    ceiling: `${formatRequests(requestsOf(alone))} that shares nothing`,
    ratio: formatPercent(requestsOf(cell), requestsOf(alone)),
    aim: null,
  };
}
