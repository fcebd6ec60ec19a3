// Snapshots by one, two and four processes of the service, and what requests at the same time share, in turns.
import { findChainById } from "../../src/chain/chains/chains.ts";
import { readCpuMs, type ServerReady } from "../api/cpu-time.ts";
import { runHttpLoad } from "../api/http-load.ts";
import { type BenchOptions, chooseSize } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { NodeWork } from "./caching-node.ts";
import type { FreeServiceTask } from "./free-service-child.ts";
import type { NodesReady, NodesTask, ReadyNode } from "./nodes-child.ts";

/**
 * Wallets of which a process remembers nothing when it reads them again, wallets of which it remembers the last snapshot,
 * or one wallet for all connections.
 */
export type ReadWallets = (typeof READ_WALLETS)[number];
export const READ_WALLETS = ["different wallets", "returning wallets", "one wallet"] as const;

/**
 * The dimension that grows from cell to cell: processes under the same load, or requests at the same time to one
 * process.
 */
export type ProcessesSeries = "processes" | "at once";

export type ProcessesCell = {
  readonly series: ProcessesSeries;
  readonly wallets: ReadWallets;
  readonly processes: number;
  /** The total of all processes. */
  readonly connections: number;
  readonly snapshots: number;
  readonly ms: number;
  /** Processor time of the service, and of the node. */
  readonly cpuMs: number;
  readonly nodeCpuMs: number;
  readonly nodeRequests: number;
};

export type CellPlan = Pick<ProcessesCell, "series" | "wallets" | "processes" | "connections">;

/** The options of Node that deployments start the service with. */
export const SERVICE_OPTIONS: readonly string[] = ["--max-semi-space-size=64"];

/**
 * Wallets besides the first. A process remembers the last hundred, and forgets the one that has waited longest: in turns
 * it has forgotten each, even while 64 are read at once.
 */
export const OTHER_WALLETS = { quick: 2, usual: 192, full: 192 };
/** Well below what a process remembers, and more than connections. */
const RETURNING_WALLETS = 48;

// Uses the shortest block time: a snapshot is shared for that long.
export const PROCESSES_CHAIN_ID = 42_161;
export const PROCESSES_TOKENS = 1_000;
const QUICK_TOKENS = 10;
const PROCESSES = { quick: [1, 2], usual: [1, 2, 4], full: [1, 2, 4] };
// With fewer, processes wait for the node half of the time.
const CONNECTIONS = 32;
const AT_ONCE = { quick: [1, 2], usual: [1, 8, 64], full: [1, 8, 64] };
const ROUNDS = { quick: 1, usual: 3, full: 3 };
const MS_PER_CELL = { quick: 20, usual: 2_000, full: 6_000 };
// With less the compiler is still at work.
const WARM_MS = { quick: 20, usual: 10_000, full: 20_000 };
const WARM_CONNECTIONS = 8;
const WARM_ATTEMPTS = 5;
// Longer than the service lets a request take: 64 snapshots at once on one core are slow.
const SILENCE_MS_MAX = 40_000;

function planCells(options: BenchOptions): readonly CellPlan[] {
  const [counts, atOnce] = [chooseSize(options, PROCESSES), chooseSize(options, AT_ONCE)];
  return READ_WALLETS.flatMap((wallets) => [
    ...counts.map(
      (processes): CellPlan => ({ series: "processes", wallets, processes, connections: CONNECTIONS }),
    ),
    ...(wallets === "returning wallets" ? [] : atOnce).map(
      (connections): CellPlan => ({ series: "at once", wallets, processes: 1, connections }),
    ),
  ]);
}

export async function measureProcesses(
  start: StartChild,
  options: BenchOptions,
  delayMs: number,
): Promise<readonly ProcessesCell[]> {
  const plans = planCells(options);
  const tokens = options.quick ? QUICK_TOKENS : PROCESSES_TOKENS;
  const otherWallets = chooseSize(options, OTHER_WALLETS);
  const nodesTask: NodesTask = { chainIds: [PROCESSES_CHAIN_ID], listed: tokens, otherWallets, delayMs };
  const { nodes } = await start("nodes", "portfolio/nodes-child.ts", nodesTask).next<NodesReady>();
  const [node] = nodes;
  if (!node) throw new Error("there is no node");
  const services: ServerReady[] = [];
  for (let number = 1; number <= Math.max(...plans.map(({ processes }) => processes)); number += 1) {
    const task: FreeServiceTask = { node, tokens };
    services.push(
      await start(
        `service ${number}`,
        "portfolio/free-service-child.ts",
        task,
        SERVICE_OPTIONS,
      ).next<ServerReady>(),
    );
  }
  await warmServices(services, node, chooseSize(options, WARM_MS));
  const cells: ProcessesCell[] = plans.map((plan) => ({
    ...plan,
    snapshots: 0,
    ms: 0,
    cpuMs: 0,
    nodeCpuMs: 0,
    nodeRequests: 0,
  }));
  const rounds = chooseSize(options, ROUNDS);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [at, plan] of plans.entries()) {
      const { wallets, processes, connections } = plan;
      logProgress(`processes, round ${round} of ${rounds}: ${processes}, ${connections} at once, ${wallets}`);
      const before = cells[at];
      const ms = chooseSize(options, MS_PER_CELL);
      // Every process has read each of them, the last ones a moment ago.
      if (wallets === "returning wallets") await load(services.slice(0, processes), node, plan, ms);
      const measured = await measureCell(services, node, plan, ms);
      if (before) cells[at] = addCells(before, measured);
    }
  }
  return cells;
}

/** The node knows every request afterwards, and each process has its code compiled. */
export async function warmServices(
  services: readonly ServerReady[],
  node: ReadyNode,
  ms: number,
): Promise<void> {
  logProgress(`${node.otherWallets.length} wallets are read once`);
  const [first] = services;
  if (!first) throw new Error("there is no service");
  for (const wallet of [node.wallet, ...node.otherWallets]) await readOnce(first.url + pathOf(node, wallet));
  for (const [at, service] of services.entries()) {
    logProgress(`service ${at + 1} of ${services.length} warms up`);
    await load([service], node, { wallets: "different wallets", connections: WARM_CONNECTIONS }, ms);
  }
}

/** On a busy machine a real chain may need more time than a snapshot has; the node keeps what it responded with. */
async function readOnce(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url);
    const text = await response.text();
    if (response.status === 200) return;
    if (attempt === WARM_ATTEMPTS) throw new Error(`a snapshot returned ${response.status}: ${text}`);
  }
}

export async function measureCell(
  services: readonly ServerReady[],
  node: ReadyNode,
  plan: CellPlan,
  ms: number,
): Promise<ProcessesCell> {
  const used = services.slice(0, plan.processes);
  const spent = async () => {
    const times = await Promise.all(used.map(({ control }) => readCpuMs(control)));
    return times.reduce((sum, time) => sum + time, 0);
  };
  const [cpuBefore, nodeBefore] = [await spent(), await readNodeWork(node)];
  const loaded = await load(used, node, plan, ms);
  const [cpuAfter, nodeAfter] = [await spent(), await readNodeWork(node)];
  return {
    ...plan,
    ...loaded,
    cpuMs: cpuAfter - cpuBefore,
    nodeCpuMs: nodeAfter.cpuMs - nodeBefore.cpuMs,
    nodeRequests: nodeAfter.requests - nodeBefore.requests,
  };
}

/** The wallet at which the next load of a service begins: one that began at the first again would find what the last one left. */
const nextWallets = new WeakMap<ServerReady, number>();

/** Each process gets the same part of the connections, and all wallets in turn. */
async function load(
  services: readonly ServerReady[],
  node: ReadyNode,
  { wallets, connections }: Pick<CellPlan, "wallets" | "connections">,
  ms: number,
): Promise<{ readonly snapshots: number; readonly ms: number }> {
  const each = connections / services.length;
  const others = node.otherWallets.slice(0, wallets === "returning wallets" ? RETURNING_WALLETS : undefined);
  const results = await Promise.all(
    services.map(async (service) => {
      // A wallet belongs to one connection: a process reads none twice at the same time.
      const turns = new Array<number>(each).fill(0);
      const first = nextWallets.get(service) ?? 0;
      const path = (_number: number, connection: number) => {
        if (wallets === "one wallet") return pathOf(node, node.wallet);
        const turn = turns[connection] ?? 0;
        turns[connection] = turn + 1;
        return pathOf(node, others[(first + connection + turn * each) % others.length] ?? node.wallet);
      };
      const limits = { ms, silenceMsMax: SILENCE_MS_MAX };
      const result = await runHttpLoad({
        url: service.url,
        connections: each,
        ...limits,
        path,
        status: 200,
      });
      nextWallets.set(service, first + each * Math.max(...turns));
      return result;
    }),
  );
  return {
    snapshots: results.reduce((sum, { requests }) => sum + requests, 0),
    ms: Math.max(...results.map((result) => result.ms)),
  };
}

function pathOf({ chainId }: ReadyNode, wallet: string): string {
  return `/portfolio?address=${wallet}&chains=${findChainById(chainId)?.slug}`;
}

async function readNodeWork({ url }: ReadyNode): Promise<NodeWork> {
  return (await (await fetch(`${url}/work`)).json()) as NodeWork;
}

function addCells(one: ProcessesCell, other: ProcessesCell): ProcessesCell {
  return {
    ...one,
    snapshots: one.snapshots + other.snapshots,
    ms: one.ms + other.ms,
    cpuMs: one.cpuMs + other.cpuMs,
    nodeCpuMs: one.nodeCpuMs + other.nodeCpuMs,
    nodeRequests: one.nodeRequests + other.nodeRequests,
  };
}
