// Reads what the paid routes read, as the service does it, and the same HTTP exchanges with nothing of ours between, in turns.
import { findChainById } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { readDiff } from "../../src/portfolio/diff/read-diff.ts";
import { readExposure } from "../../src/portfolio/exposure/read-exposure.ts";
import { spenderList } from "../../src/portfolio/exposure/spenders.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { createSnapshotReader } from "../../src/portfolio/snapshot.ts";
import type { PortfolioChain } from "../../src/portfolio/types.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { countRoundTrips, planExchanges, recordExchanges, replayExchanges } from "./exchange-plan.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { buildTokenList } from "./token-market.ts";

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

/** The kind of read: a snapshot, what can be taken, or what changed since the block before. */
export type MeasuredRoute = "snapshot" | "exposure" | "diff";

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
const feeds = new Map(task.nodes.map((node) => [node.chainId, node.feeds]));
const rpcs = task.nodes.map(({ url, chainId }) =>
  createRpc({ urls: [new Secret(url)], chainId, log: benchLog, onCall: null }),
);
const progress = createProgressReporter();

function portOf(node: ReadyNode, index: number, tokens: number): PortfolioChain {
  const facts = findChainById(node.chainId);
  const rpc = rpcs[index];
  if (!facts || !rpc) throw new Error(`there is no chain ${node.chainId}`);
  const listed = buildTokenList(node.held, tokens).map((token) => [token.contract, token] as const);
  const book = { ...facts, tokens: new Map(listed), stablecoins: new Set([node.stablecoin]) };
  return createChainAccess(rpc, book);
}

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

let warmRounds = 0;

type Cell = Pick<SnapshotCell, "route" | "tokens" | "chains">;

/** The reads behind each paid route, over the given chains. */
function createReads(nodes: readonly ReadyNode[], tokens: number) {
  const ports = nodes.map((node, i) => portOf(node, i, tokens));
  const options = {
    chains: new Map(ports.map((port) => [port.chain.slug, port])),
    provider: rpcHoldingsProvider,
    priceSources: createPriceSources({ feeds }),
    positionReaders: POSITION_READERS,
    clock: systemClock,
    spenders: spenderList,
  };
  const snapshots = createSnapshotReader(options);
  const query = { wallet: nodes[0]?.wallet ?? "0x", slugs: ports.map(({ chain }) => chain.slug) } as const;
  const { signal } = new AbortController();
  const blocksAt = async (depth: number) =>
    new Map(
      await Promise.all(
        ports.map(async (port) => [port.chain.slug, (await port.pin(signal)).block.number - depth] as const),
      ),
    );
  return {
    snapshot: () => snapshots.read(query, signal),
    exposure: () => readExposure(options, query, signal),
    diff: async () =>
      readDiff(
        { ...options, snapshots, storedSnapshots: null },
        { ...query, from: await blocksAt(1), to: await blocksAt(0) },
        signal,
      ),
  };
}

async function measure({ route, tokens, chains }: Cell): Promise<SnapshotCell> {
  const nodes = task.nodes.slice(0, chains);
  const reads = createReads(nodes, tokens);
  const take: () => Promise<unknown> = reads[route];
  // The first run fills the caches of the nodes.
  const first = await reads.snapshot();
  const held = nodes.reduce((sum, node) => sum + node.held.length, 0);
  if (first.tokens.length < held) throw new Error(`${first.tokens.length} of ${held} tokens were found`);
  await take();
  const urls = nodes.map(({ url }) => url);
  const plan = planExchanges(await recordExchanges(urls, take));
  if (plan.length === 0) throw new Error(`the ${route} sent no request`);
  for (; warmRounds < task.warmRounds; warmRounds += 1) {
    await take();
    await replayExchanges(plan);
  }
  const snapshots: SnapshotTiming[] = [];
  const alone: SnapshotTiming[] = [];
  for (let round = 0; round < task.rounds; round += 1) {
    snapshots.push(await timed(take));
    alone.push(await timed(() => replayExchanges(plan)));
    progress(() => `${route}, ${tokens} tokens, ${chains} chains`);
  }
  return {
    ...{ route, tokens, chains },
    snapshot: best(snapshots),
    alone: best(alone),
    requests: plan.length,
    roundTrips: countRoundTrips(plan),
  };
}

const cells: SnapshotCell[] = [];
for (const tokens of task.tokens)
  for (const chains of task.chains) cells.push(await measure({ route: "snapshot", tokens, chains }));
for (const route of ["exposure", "diff"] as const)
  for (const chains of task.chains)
    cells.push(await measure({ route, tokens: task.otherRoutesTokens, chains }));
for (const rpc of rpcs) rpc.close();
const report: SnapshotReport = { cells };
sendToParent(report);
