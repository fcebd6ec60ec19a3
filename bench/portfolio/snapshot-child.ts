// Reads what the paid routes read, as the service does it, and the same HTTP exchanges with nothing of ours between, in turns.
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import {
  countRoundTrips,
  type ExchangePlan,
  planExchanges,
  recordExchanges,
  replayExchanges,
} from "./exchange-plan.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { createPaidReads } from "./paid-reads.ts";

export type SnapshotTask = {
  readonly nodes: readonly ReadyNode[];
  readonly tokens: readonly number[];
  /** How many of the nodes are read at once. */
  readonly chains: readonly number[];
  readonly rounds: number;
  /** Rounds before the first measured one. */
  readonly warmRounds: number;
  /** The length of the token lists with which the other paid routes are read. */
  readonly otherRoutesTokens: number;
};

/** The kind of read: a snapshot, the next one of the wallet, what can be taken, or what changed since the block before. */
export type MeasuredRoute = "snapshot" | "exposure" | "diff" | "second snapshot";

/**
 * Figures of the best round: other work of the machine only ever makes one slower. Processor time is that of this
 * process.
 */
export type SnapshotTiming = { readonly ms: number; readonly cpuMs: number };

export type SnapshotCell = {
  readonly route: MeasuredRoute;
  readonly tokens: number;
  readonly chains: number;
  readonly snapshot: SnapshotTiming;
  readonly alone: SnapshotTiming;
  readonly requests: number;
  readonly roundTrips: number;
};

export type SnapshotReport = { readonly cells: readonly SnapshotCell[] };

const task = JSON.parse(process.argv[2] ?? "") as SnapshotTask;
const connected = task.nodes.map((node) => ({
  ...node,
  rpc: createRpc({ urls: [new Secret(node.url)], chainId: node.chainId, log: benchLog, onCall: null }),
}));
const progress = createProgressReporter();

async function timed(work: () => Promise<unknown>): Promise<SnapshotTiming> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 };
}

function best(rounds: readonly SnapshotTiming[]): SnapshotTiming {
  return {
    ms: Math.min(...rounds.map(({ ms }) => ms)),
    cpuMs: Math.min(...rounds.map(({ cpuMs }) => cpuMs)),
  };
}

const RECORDINGS = 3;

/** The recording with the fewest round trips: on a busy machine requests of one round trip seem to follow each other. */
async function recordPlan(
  urls: readonly string[],
  prepare: () => Promise<() => Promise<unknown>>,
): Promise<ExchangePlan> {
  const plans: ExchangePlan[] = [];
  while (plans.length < RECORDINGS) {
    plans.push(planExchanges(await recordExchanges(urls, await prepare())));
  }
  const costOf = (plan: ExchangePlan) => countRoundTrips(plan) + plan.length;
  return plans.reduce((one, other) => (costOf(other) < costOf(one) ? other : one));
}

let warmRounds = 0;

type Cell = Pick<SnapshotCell, "route" | "tokens" | "chains">;

async function measure({ route, tokens, chains }: Cell): Promise<SnapshotCell> {
  const nodes = connected.slice(0, chains);
  const prepare = async (): Promise<() => Promise<unknown>> => {
    const reads = createPaidReads({ nodes, tokens });
    if (route !== "second snapshot") return reads[route];
    await reads.snapshot();
    return () => reads.snapshot();
  };
  // The first run fills the caches of the nodes.
  const first = await createPaidReads({ nodes, tokens }).snapshot();
  const held = nodes.reduce((sum, node) => sum + node.held.length, 0);
  if (first.tokens.length < held) throw new Error(`${first.tokens.length} of ${held} tokens were found`);
  await (await prepare())();
  const urls = nodes.map(({ url }) => url);
  const plan = await recordPlan(urls, prepare);
  if (plan.length === 0) throw new Error(`the ${route} sent no request`);
  for (; warmRounds < task.warmRounds; warmRounds += 1) {
    await (await prepare())();
    await replayExchanges(plan);
  }
  const snapshots: SnapshotTiming[] = [];
  const alone: SnapshotTiming[] = [];
  for (let round = 0; round < task.rounds; round += 1) {
    snapshots.push(await timed(await prepare()));
    alone.push(await timed(() => replayExchanges(plan)));
    progress(() => `${route}, ${tokens} tokens, ${chains} chains`);
  }
  return {
    route,
    tokens,
    chains,
    snapshot: best(snapshots),
    alone: best(alone),
    requests: plan.length,
    roundTrips: countRoundTrips(plan),
  };
}

const cells: SnapshotCell[] = [];
for (const tokens of task.tokens)
  for (const chains of task.chains) cells.push(await measure({ route: "snapshot", tokens, chains }));
for (const route of ["exposure", "diff", "second snapshot"] as const)
  for (const chains of task.chains)
    cells.push(await measure({ route, tokens: task.otherRoutesTokens, chains }));
for (const { rpc } of connected) rpc.close();
const report: SnapshotReport = { cells };
sendToParent(report);
