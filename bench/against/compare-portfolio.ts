// Snapshots by two versions of the portfolio service, in turns, over the same nodes: under load, and one by one.
import type { ServerReady } from "../api/cpu-time.ts";
import { type BenchOptions, chooseSize, formatGrouped, type Measurement } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import { type StartChild, withChildren } from "../harness/with-children.ts";
import type { FreeServiceTask } from "../portfolio/free-service-child.ts";
import {
  type CellPlan,
  measureCell,
  OTHER_WALLETS,
  PROCESSES_CHAIN_ID,
  type ProcessesCell,
  SERVICE_OPTIONS,
  warmServices,
} from "../portfolio/measure-processes.ts";
import type { NodesReady, NodesTask, ReadyNode } from "../portfolio/nodes-child.ts";
import type { SnapshotCell, SnapshotReport, SnapshotTask } from "../portfolio/snapshot-child.ts";
import { compareRuns, type Figure, type TurnRun } from "./comparison.ts";
import { TURNS, type Version, type Versions } from "./versions.ts";

const TOKENS = { quick: 10, usual: 1_000, full: 1_000 };
/** Chains of the reads one by one; the load reads the first. */
const CHAIN_IDS = { quick: [PROCESSES_CHAIN_ID], usual: [PROCESSES_CHAIN_ID, 8453, 1, 10, 137] };
const CONNECTIONS = { quick: 2, usual: 16, full: 16 };
const LOAD_MS = { quick: 50, usual: 8_000, full: 20_000 };
// After five seconds a quarter of the processor time was still that of the compiler.
const WARM_MS = { quick: 20, usual: 20_000, full: 30_000 };
const ROUNDS = { quick: 1, usual: 5, full: 15 };
const WARM_ROUNDS = { quick: 1, usual: 6, full: 6 };
// As far away as a good node is.
const DELAY_MS = 20;

type PortfolioRun = { readonly load: ProcessesCell; readonly cells: readonly SnapshotCell[] };

const milliseconds = (ms: number) => `${ms.toFixed(1)} ms`;

export function comparePortfolios(
  options: BenchOptions,
  versions: Versions,
): Promise<readonly Measurement[]> {
  return withChildren(async (start) => {
    const chainIds = options.quick ? CHAIN_IDS.quick : CHAIN_IDS.usual;
    const nodesTask: NodesTask = {
      chainIds,
      listed: chooseSize(options, TOKENS),
      delayMs: DELAY_MS,
      otherWallets: chooseSize(options, OTHER_WALLETS),
    };
    const { nodes } = await start("nodes", "portfolio/nodes-child.ts", nodesTask).next<NodesReady>();
    const runs: TurnRun<PortfolioRun>[] = [];
    for (const [turn, name] of TURNS.entries()) {
      logProgress(`turn ${turn + 1} of ${TURNS.length}: ${name}`);
      const load = await loadService(start, versions[name], nodes, options);
      runs.push({
        version: name,
        run: { load, cells: await readOneByOne(start, versions[name], nodes, options) },
      });
    }
    return compareRuns([...LOAD_FIGURES, ...listCellFigures(runs)], runs);
  });
}

async function loadService(
  start: StartChild,
  { name, folder }: Version,
  [node]: readonly ReadyNode[],
  options: BenchOptions,
): Promise<ProcessesCell> {
  if (!node) throw new Error("there is no node");
  const task: FreeServiceTask = { node, tokens: chooseSize(options, TOKENS) };
  // The version before was started without any.
  const nodeOptions = name === "now" ? SERVICE_OPTIONS : [];
  const child = start(`service, ${name}`, "portfolio/free-service-child.ts", task, nodeOptions, folder);
  const service = await child.next<ServerReady>();
  await warmServices([service], node, chooseSize(options, WARM_MS));
  const connections = chooseSize(options, CONNECTIONS);
  const plan: CellPlan = { series: "processes", wallets: "different wallets", processes: 1, connections };
  const cell = await measureCell([service], node, plan, chooseSize(options, LOAD_MS));
  await child.stop();
  return cell;
}

async function readOneByOne(
  start: StartChild,
  { name, folder }: Version,
  nodes: readonly ReadyNode[],
  options: BenchOptions,
): Promise<readonly SnapshotCell[]> {
  const tokens = chooseSize(options, TOKENS);
  const task: SnapshotTask = {
    nodes,
    tokens: [tokens],
    otherRoutesTokens: tokens,
    chains: [...new Set([1, nodes.length])],
    rounds: chooseSize(options, ROUNDS),
    warmRounds: chooseSize(options, WARM_ROUNDS),
  };
  const child = start(`reads, ${name}`, "portfolio/snapshot-child.ts", task, [], folder);
  const { cells } = await child.next<SnapshotReport>();
  await child.stop();
  return cells;
}

const LOAD_FIGURES: readonly Figure<PortfolioRun>[] = [
  {
    what: "under load, processor time of a snapshot",
    of: ({ load }) => load.cpuMs / load.snapshots,
    format: milliseconds,
  },
  {
    what: "  node requests of a snapshot",
    of: ({ load }) => load.nodeRequests / load.snapshots,
    format: (count) => count.toFixed(1),
  },
  {
    what: "  snapshots a second",
    of: ({ load }) => (load.snapshots / load.ms) * 1_000,
    format: (count) => count.toFixed(1),
    isRate: true,
  },
];

/** The figures of each route and number of chains, with nothing remembered of earlier reads. */
function listCellFigures(runs: readonly TurnRun<PortfolioRun>[]): readonly Figure<PortfolioRun>[] {
  return (runs[0]?.run.cells ?? []).flatMap(({ route, chains, tokens }, at) => {
    const of = (figure: (cell: SnapshotCell) => number) => (run: PortfolioRun) => {
      const cell = run.cells[at];
      return cell ? figure(cell) : null;
    };
    const size = `${formatGrouped(tokens)} tokens on ${chains} chain${chains === 1 ? "" : "s"}`;
    return [
      { what: `${route} of ${size}, requests`, of: of(({ requests }) => requests), format: String },
      { what: "  round trips", of: of(({ roundTrips }) => roundTrips), format: String },
      { what: "  time", of: of(({ snapshot }) => snapshot.ms), format: milliseconds },
      { what: "  processor time", of: of(({ snapshot }) => snapshot.cpuMs), format: milliseconds },
    ];
  });
}
