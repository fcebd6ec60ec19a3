// Overhead of each paid route beyond its RPC time, throughput of unpaid and paid requests, and of several processes.
import { comparePortfolios } from "./against/compare-portfolio.ts";
import { startBenchServer } from "./harness/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatPercent,
  formatPerSecond,
  type Headline,
  type Measurement,
} from "./harness/measurement.ts";
import { profileOptions, type StartChild, withChildren } from "./harness/with-children.ts";
import { measureChannels } from "./portfolio/measure-channels.ts";
import { measureProcesses } from "./portfolio/measure-processes.ts";
import { measureProfile } from "./portfolio/measure-profile.ts";
import { measureProofs } from "./portfolio/measure-proofs.ts";
import { measureSimulations } from "./portfolio/measure-simulations.ts";
import type { NodesReady, NodesTask } from "./portfolio/nodes-child.ts";
import type { PaymentLoadReport, PaymentLoadTask } from "./portfolio/payment-load-child.ts";
import { reportProcesses } from "./portfolio/processes-report.ts";
import type {
  MeasuredRoute,
  SnapshotCell,
  SnapshotReport,
  SnapshotTask,
} from "./portfolio/snapshot-child.ts";
import { startPaidService } from "./portfolio/start-paid-service.ts";

const SCHEMA = "sextant";
const CHAIN_IDS = [8453, 1, 42161, 10, 137];
const CHAINS = { quick: [1, 2], usual: [1, 2, 5], full: [1, 2, 5] };
const TOKENS = { quick: [10], usual: [10, 1_000, 5_000], full: [10, 1_000, 5_000] };
const OTHER_ROUTES_TOKENS = { quick: 10, usual: 1_000, full: 1_000 };
// As far away as a good node is.
const DELAY_MS = 20;
const ROUNDS = { quick: 1, usual: 5, full: 31 };
// Until the compiler has seen the code.
const WARM_ROUNDS = { quick: 1, usual: 6, full: 6 };
const PAYERS = { quick: 2, usual: 16, full: 16 };
const PAID_ROUNDS = { quick: 1, usual: 2, full: 8 };
const PAYMENTS_PER_ROUND = { quick: 1, usual: 5, full: 5 };
const MS_PER_CELL = { quick: 20, usual: 500, full: 500 };
// With less the compiler is still at work, and the service seems three times slower than it is.
const WARM_MS = { quick: 20, usual: 5_000, full: 5_000 };

type MeasurePart = (options: BenchOptions, start: StartChild) => Promise<BenchReport>;

const PARTS: Readonly<Record<string, MeasurePart>> = {
  reads: measureSnapshots,
  payments: measurePayments,
  processes: async (options, start) =>
    reportProcesses(await measureProcesses(start, options, DELAY_MS), { delayMs: DELAY_MS }),
  channels: measureChannels,
  profile: (options, start) => measureProfile(options, start, DELAY_MS),
  proofs: (options, start) => measureProofs(options, start, DELAY_MS),
  simulate: (options, start) => measureSimulations(options, start, DELAY_MS),
};

export const portfolioBench: Bench = {
  name: "portfolio",
  parts: Object.keys(PARTS),
  async run(options) {
    const reports: BenchReport[] = [];
    for (const [part, measure] of Object.entries(PARTS)) {
      if (options.part !== null && options.part !== part) continue;
      // All children of one part are gone before the next begins.
      reports.push(await withChildren((start) => measure(options, start)));
    }
    return {
      measurements: reports.flatMap(({ measurements }) => measurements),
      headlines: reports.flatMap(({ headlines }) => headlines),
    };
  },
  compare: comparePortfolios,
};

async function measureSnapshots(options: BenchOptions, start: StartChild): Promise<BenchReport> {
  const [tokens, chains] = [chooseSize(options, TOKENS), chooseSize(options, CHAINS)];
  const chainIds = CHAIN_IDS.slice(0, Math.max(...chains));
  const nodesTask: NodesTask = { chainIds, listed: Math.max(...tokens), delayMs: DELAY_MS };
  const remembering = start("nodes", "portfolio/nodes-child.ts", nodesTask);
  const { nodes } = await remembering.next<NodesReady>();
  const rounds = chooseSize(options, ROUNDS);
  const task: SnapshotTask = {
    nodes,
    tokens,
    chains,
    rounds,
    warmRounds: chooseSize(options, WARM_ROUNDS),
    otherRoutesTokens: chooseSize(options, OTHER_ROUTES_TOKENS),
  };
  const snapshots = start(
    "snapshot",
    "portfolio/snapshot-child.ts",
    task,
    profileOptions(options.profileFolder),
  );
  const { cells } = await snapshots.next<SnapshotReport>();
  const measurements = [
    {
      what: "a read of",
      value: "overhead",
      note: `of RPC time, aim in ms | read, RPC alone | HTTP requests in round trips | processor time; best of ${rounds}, every answer ${DELAY_MS} ms late`,
    },
    ...cells.map(ofCell),
  ];
  const routes: readonly MeasuredRoute[] = ["snapshot", "exposure", "diff"];
  return {
    measurements,
    headlines: routes.map((route) => worstOf(cells.filter((cell) => cell.route === route))),
  };
}

/** The cell that is furthest from what it may take. */
function worstOf(cells: readonly SnapshotCell[]): Headline {
  const excess = ({ snapshot, alone }: SnapshotCell) => (snapshot.ms - alone.ms) / aimMs(alone.ms);
  const worst = cells.reduce((one, other) => (excess(other) > excess(one) ? other : one));
  const overheadMs = worst.snapshot.ms - worst.alone.ms;
  return {
    what: `overhead of ${NAMES[worst.route]}, worst of ${cells.length}: ${formatSize(worst)}`,
    value: `${overheadMs.toFixed(1)} ms`,
    ceiling: `${worst.alone.ms.toFixed(0)} ms of RPC alone`,
    ratio: formatPercent(overheadMs, worst.alone.ms),
    aim: { text: `${aimMs(worst.alone.ms).toFixed(0)} ms or less`, met: excess(worst) <= 1 },
  };
}

const NAMES: Readonly<Record<MeasuredRoute, string>> = {
  snapshot: "a snapshot",
  exposure: "an exposure",
  diff: "a difference",
  "second snapshot": "a second snapshot",
};

function formatSize({ tokens, chains }: SnapshotCell): string {
  return `${formatGrouped(tokens)} tokens on ${chains} chain${chains === 1 ? "" : "s"}`;
}

function ofCell(cell: SnapshotCell): Measurement {
  const { snapshot, alone, requests, roundTrips } = cell;
  const overhead = snapshot.ms - alone.ms;
  const times = [snapshot.ms, alone.ms].map((ms) => `${ms.toFixed(0)} ms`.padStart(7)).join("");
  const cpu = [snapshot.cpuMs, alone.cpuMs].map((ms) => `${ms.toFixed(0)} ms`.padStart(7)).join("");
  return {
    what: `  ${cell.route} of ${formatSize(cell)}`,
    value: `${overhead.toFixed(1)} ms`,
    note: [
      `${formatPercent(overhead, alone.ms).padStart(5)}, aim: ${aimMs(alone.ms).toFixed(0)}`,
      times,
      `${requests} in ${roundTrips}`.padStart(8),
      cpu,
    ].join(" | "),
  };
}

/** The limit of our own part of a snapshot. */
function aimMs(rpcMs: number): number {
  return rpcMs / 10 + 5;
}

async function measurePayments(options: BenchOptions, start: StartChild): Promise<BenchReport> {
  const server = await startBenchServer("embedded");
  try {
    const place = { connection: server.connection, schema: SCHEMA };
    const { stop, ...sold } = await startPaidService(start, place, chooseSize(options, PAYERS));
    const counts = {
      rounds: chooseSize(options, PAID_ROUNDS),
      msPerCell: chooseSize(options, MS_PER_CELL),
      warmMs: chooseSize(options, WARM_MS),
      payments: chooseSize(options, PAYMENTS_PER_ROUND),
    };
    const task: PaymentLoadTask = { ...sold, ...counts };
    const report = await start(
      "payment-load",
      "portfolio/payment-load-child.ts",
      task,
    ).next<PaymentLoadReport>();
    // It holds connections to the database, which is about to go.
    await stop();
    return ofPayments(report, chooseSize(options, PAYERS));
  } finally {
    await server.stop();
  }
}

function ofPayments(report: PaymentLoadReport, payers: number): BenchReport {
  const rate = (name: keyof PaymentLoadReport) => formatPerSecond(report[name].requests, report[name].ms);
  const cpu = (name: keyof PaymentLoadReport) =>
    `${(report[name].cpuMs / report[name].requests).toFixed(2)} ms of processor time each`;
  const of = (name: keyof PaymentLoadReport, ceiling: keyof PaymentLoadReport, words: string) =>
    `${formatPercent(rate(name), rate(ceiling))} of ${words} (${formatGrouped(rate(ceiling))}/s)`;
  const measurements = [
    {
      what: "unpaid requests/s",
      value: formatGrouped(rate("unpaid")),
      note: `${of("unpaid", "rawUnpaid", "node:http answering the same 402")}; ${cpu("unpaid")}`,
    },
    {
      what: "paid requests/s",
      value: formatGrouped(rate("paid")),
      note: `${of("paid", "transfers", "bare transfers by the same key and queue")}; ${payers} payers, a real transfer each; ${cpu("paid")}`,
    },
    {
      what: "paid-before requests/s",
      value: formatGrouped(rate("paidBefore")),
      note: `${of("paidBefore", "rawUnpaid", "node:http answering a 402")}; ${cpu("paidBefore")}`,
    },
  ];
  const headline = (
    what: string,
    name: keyof PaymentLoadReport,
    ceiling: keyof PaymentLoadReport,
    words: string,
  ): Headline => ({
    what,
    value: `${formatGrouped(rate(name))} req/s`,
    ceiling: `${formatGrouped(rate(ceiling))} ${words}`,
    ratio: formatPercent(rate(name), rate(ceiling)),
    aim: null,
  });
  const headlines = [
    headline("unpaid", "unpaid", "rawUnpaid", "node:http"),
    headline("paid", "paid", "transfers", "bare transfers"),
  ];
  return { measurements, headlines };
}
