// How much a snapshot takes beyond the answers of its nodes, and how fast the paid service asks for money and takes it.
import type { ServerReady } from "./api/server-child.ts";
import { startBenchServer } from "./backfill/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  grouped,
  type Measurement,
  percent,
  perSecond,
} from "./measurement.ts";
import type { NodesReady, NodesTask } from "./portfolio/nodes-child.ts";
import type { PaidChain, PaidChainTask } from "./portfolio/paid-chain-child.ts";
import type { PaymentLoadReport, PaymentLoadTask } from "./portfolio/payment-load-child.ts";
import type { ServiceTask } from "./portfolio/service-child.ts";
import type { SnapshotCell, SnapshotReport, SnapshotTask } from "./portfolio/snapshot-child.ts";
import type { UnpaidTask } from "./portfolio/unpaid-child.ts";
import { type Child, startChild } from "./start-child.ts";

const SCHEMA = "sextant";
const CHAIN_IDS = [8453, 1, 42161, 10, 137];
const CHAINS = [1, 2, 5];
const TOKENS = [10, 1_000, 5_000];
// As far away as a good node is.
const DELAY_MS = 20;
const ROUNDS = 5;
const FULL_ROUNDS = 31;
const PAYERS = 16;
const PAID_ROUNDS = 2;
const FULL_PAID_ROUNDS = 8;
const PAYMENTS_PER_ROUND = 5;
const MS_PER_CELL = 500;

export const portfolioBench: Bench = {
  name: "portfolio",
  async run(options) {
    const children: Child[] = [];
    const start: Start = (name, task, node = []) => {
      const file = new URL(`portfolio/${name}-child.ts`, import.meta.url);
      const child = startChild({ name, file, args: [JSON.stringify(task)], node });
      children.push(child);
      return child;
    };
    try {
      return [...(await measureSnapshots(options, start)), ...(await measurePayments(options, start))];
    } finally {
      for (const child of children.reverse()) await child.stop();
    }
  },
};

type Start = (name: string, task: object, node?: readonly string[]) => Child;

async function measureSnapshots(
  { full, profileFolder }: BenchOptions,
  start: Start,
): Promise<readonly Measurement[]> {
  const nodesTask: NodesTask = { chainIds: CHAIN_IDS, listed: Math.max(...TOKENS), delayMs: DELAY_MS };
  const remembering = start("nodes", nodesTask);
  const { nodes } = await remembering.next<NodesReady>();
  const profile = profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  const rounds = full ? FULL_ROUNDS : ROUNDS;
  const task: SnapshotTask = { nodes, tokens: TOKENS, chains: CHAINS, rounds };
  const snapshots = start("snapshot", task, profile);
  const { cells } = await snapshots.next<SnapshotReport>();
  // Five chains with thousands of tokens would stand in the way of the payments.
  await snapshots.stop();
  await remembering.stop();
  return [
    {
      what: "snapshot of",
      value: "overhead",
      note: `of RPC time, aim in ms | snapshot, RPC alone | HTTP requests in round trips | processor time; best of ${rounds}, every answer ${DELAY_MS} ms late`,
    },
    ...cells.map(ofCell),
  ];
}

function ofCell({ tokens, chains, snapshot, alone, requests, roundTrips }: SnapshotCell): Measurement {
  const overhead = snapshot.ms - alone.ms;
  const times = [snapshot.ms, alone.ms].map((ms) => `${ms.toFixed(0)} ms`.padStart(7)).join("");
  const cpu = [snapshot.cpuMs, alone.cpuMs].map((ms) => `${ms.toFixed(0)} ms`.padStart(7)).join("");
  return {
    what: `  ${grouped(tokens)} tokens on ${chains} chain${chains === 1 ? "" : "s"}`,
    value: `${overhead.toFixed(1)} ms`,
    note: [
      `${percent(overhead, alone.ms).padStart(5)}, aim: ${aimMs(alone.ms).toFixed(0)}`,
      times,
      `${requests} in ${roundTrips}`.padStart(8),
      cpu,
    ].join(" | "),
  };
}

/** What our own part of a snapshot may take. */
function aimMs(rpcMs: number): number {
  return rpcMs / 10 + 5;
}

async function measurePayments({ full }: BenchOptions, start: Start): Promise<readonly Measurement[]> {
  const server = await startBenchServer();
  try {
    const chainTask: PaidChainTask = { payers: PAYERS };
    const chain = await start("paid-chain", chainTask).next<PaidChain>();
    const serviceTask: ServiceTask = { connection: server.connection, schema: SCHEMA, chain };
    const sold = start("service", serviceTask);
    const service = await sold.next<ServerReady>();
    const path = `/portfolio?address=${chain.wallet}&chains=local`;
    const unpaidTask: UnpaidTask = { url: service.url + path };
    const raw = await start("unpaid", unpaidTask).next<ServerReady>();
    const rounds = full ? FULL_PAID_ROUNDS : PAID_ROUNDS;
    const counts = { rounds, msPerCell: MS_PER_CELL, payments: PAYMENTS_PER_ROUND };
    const task: PaymentLoadTask = { chain, service, raw, path, ...counts };
    const report = await start("payment-load", task).next<PaymentLoadReport>();
    // It holds connections to the database, which is about to go.
    await sold.stop();
    return ofPayments(report);
  } finally {
    await server.stop();
  }
}

function ofPayments(report: PaymentLoadReport): Measurement[] {
  const rate = (name: keyof PaymentLoadReport) => perSecond(report[name].requests, report[name].ms);
  const cpu = (name: keyof PaymentLoadReport) =>
    `${(report[name].cpuMs / report[name].requests).toFixed(1)} ms of processor time each`;
  const of = (name: keyof PaymentLoadReport, ceiling: keyof PaymentLoadReport, words: string) =>
    `${percent(rate(name), rate(ceiling))} of ${words} (${grouped(rate(ceiling))}/s)`;
  return [
    {
      what: "unpaid requests/s",
      value: grouped(rate("unpaid")),
      note: `${of("unpaid", "rawUnpaid", "node:http answering the same 402")}; ${cpu("unpaid")}`,
    },
    {
      what: "paid requests/s",
      value: grouped(rate("paid")),
      note: `${of("paid", "transfers", "bare transfers by the same key and queue")}; ${PAYERS} payers, a real transfer each; ${cpu("paid")}`,
    },
    {
      what: "paid-before requests/s",
      value: grouped(rate("paidBefore")),
      note: `${of("paidBefore", "rawUnpaid", "node:http answering a 402")}; ${cpu("paidBefore")}`,
    },
  ];
}
