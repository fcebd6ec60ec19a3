// Payment channels: the time that a voucher adds to a request, and calls on one core, side by side with the library's server.

import type { ServerReady } from "../api/cpu-time.ts";
import { startBenchServer } from "../harness/bench-database.ts";
import {
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatPercent,
  type Headline,
} from "../harness/measurement.ts";
import { profileOptions, type StartChild } from "../harness/with-children.ts";
import type { ChannelLoadReport, ChannelLoadTask } from "./channel-load-child.ts";
import type { ChannelServiceTask } from "./channel-service-child.ts";
import type { PaymentChainReady, PaymentChainTask } from "./paid-chain-child.ts";

const PRICE = 1_000n;
const PAYERS = { quick: 2, usual: 16, full: 16 };
const WARM = { quick: 2, usual: 40, full: 40 };
const ALONE = { quick: 3, usual: 40, full: 200 };
const TOGETHER = { quick: 3, usual: 100, full: 400 };
const AIMS = { medianMs: 5, p99Ms: 15, perSecond: 500 };

export async function measureChannels(options: BenchOptions, start: StartChild): Promise<BenchReport> {
  const server = await startBenchServer("embedded");
  try {
    const ours = await measure("ours", options, start, { connection: server.connection, schema: "sextant" });
    const stock = await measure("stock", options, start, { connection: server.connection, schema: "stock" });
    return describe(ours, stock);
  } finally {
    await server.stop();
  }
}

async function measure(
  kind: ChannelServiceTask["kind"],
  options: BenchOptions,
  start: StartChild,
  place: Pick<ChannelServiceTask, "connection" | "schema">,
): Promise<ChannelLoadReport> {
  const [warm, alone, together] = [WARM, ALONE, TOGETHER].map((sizes) => chooseSize(options, sizes)) as [
    number,
    number,
    number,
  ];
  const chainTask: PaymentChainTask = { payers: chooseSize(options, PAYERS) };
  const paidChain = start(`chain of ${kind}`, "portfolio/paid-chain-child.ts", chainTask);
  const chain = await paidChain.next<PaymentChainReady>();
  const minDeposit = (PRICE * BigInt(1 + warm + alone + together)).toString();
  const serviceTask: ChannelServiceTask = { ...place, chain, kind, price: PRICE.toString(), minDeposit };
  const sold = start(
    `${kind} service`,
    "portfolio/channel-service-child.ts",
    serviceTask,
    kind === "ours" ? profileOptions(options.profileFolder) : [],
  );
  const service = await sold.next<ServerReady>();
  const task: ChannelLoadTask = { chain, service, price: PRICE.toString(), warm, alone, together };
  const report = await start(
    `load on ${kind}`,
    "portfolio/channel-load-child.ts",
    task,
  ).next<ChannelLoadReport>();
  await sold.stop();
  return report;
}

const addedOf = ({ free, voucher }: ChannelLoadReport, of: "medianMs" | "p99Ms") => voucher[of] - free[of];
const perCore = ({ requests, cpuMs }: ChannelLoadReport) => (requests / cpuMs) * 1_000;
const inMs = (ms: number) => `${ms.toFixed(1)} ms`;

function describe(ours: ChannelLoadReport, stock: ChannelLoadReport): BenchReport {
  const added = (of: "medianMs" | "p99Ms", words: string): Headline => ({
    what: `a voucher adds to a request, ${words}`,
    value: inMs(addedOf(ours, of)),
    ceiling: `${inMs(addedOf(stock, of))} stock server`,
    ratio: formatPercent(addedOf(ours, of), addedOf(stock, of)),
    aim: { text: `${AIMS[of]} ms or less`, met: addedOf(ours, of) <= AIMS[of] },
  });
  const rate: Headline = {
    what: "calls by channel on one core",
    value: `${formatGrouped(Math.round(perCore(ours)))} req/s`,
    ceiling: `${formatGrouped(Math.round(perCore(stock)))} stock server`,
    ratio: formatPercent(perCore(ours), perCore(stock)),
    aim: { text: `${AIMS.perSecond} or more`, met: perCore(ours) >= AIMS.perSecond },
  };
  const line = (name: string, report: ChannelLoadReport) => ({
    what: `by channel, ${name}`,
    value: `${formatGrouped(Math.round((report.requests / report.ms) * 1_000))} req/s`,
    note: `${(report.cpuMs / report.requests).toFixed(2)} ms of processor time each | alone: median ${inMs(report.voucher.medianMs)}, p99 ${inMs(report.voucher.p99Ms)} | free: median ${inMs(report.free.medianMs)}, p99 ${inMs(report.free.p99Ms)}`,
  });
  return {
    measurements: [line("ours, stored in PostgreSQL", ours), line("stock server, in memory", stock)],
    headlines: [added("medianMs", "median"), added("p99Ms", "p99"), rate],
  };
}
