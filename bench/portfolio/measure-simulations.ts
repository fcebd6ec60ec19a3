// Measures a simulation of one transaction and of ten: requests to the node, time and processor time.
import { type BenchOptions, type BenchReport, chooseSize, formatPercent } from "../harness/measurement.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { NodesReady, NodesTask } from "./nodes-child.ts";
import type { SimulationCell, SimulationsReport, SimulationsTask } from "./simulations-child.ts";

const CHAIN_ID = 8453;
const LISTED = { quick: 10, usual: 1_000, full: 1_000 };
const ROUNDS = { quick: 1, usual: 100, full: 300 };
const REQUESTS_AIM = 4;
const CPU_MS_AIM = 10;

export async function measureSimulations(
  options: BenchOptions,
  start: StartChild,
  delayMs: number,
): Promise<BenchReport> {
  const tokens = chooseSize(options, LISTED);
  const nodesTask: NodesTask = { chainIds: [CHAIN_ID], listed: tokens, delayMs };
  const { nodes } = await start("nodes", "portfolio/nodes-child.ts", nodesTask).next<NodesReady>();
  const [node] = nodes;
  if (!node) throw new Error("there is no node");
  const task: SimulationsTask = { node, tokens, rounds: chooseSize(options, ROUNDS) };
  const child = start("simulations", "portfolio/simulations-child.ts", task);
  return describe((await child.next<SimulationsReport>()).cells, delayMs);
}

function describe(cells: readonly SimulationCell[], delayMs: number): BenchReport {
  const sizeOf = ({ transactions }: SimulationCell) =>
    transactions === 1 ? "one transaction" : `${transactions} transactions`;
  return {
    measurements: cells.map((cell) => ({
      what: `a simulation of ${sizeOf(cell)}`,
      value: `${cell.cpuMs.toFixed(1)} ms of processor`,
      note: `${cell.requests.toFixed(1)} requests, ${cell.ms.toFixed(0)} ms, every response ${delayMs} ms late`,
    })),
    headlines: cells.slice(0, 1).map((cell) => ({
      what: "a simulation, processor time",
      value: `${cell.cpuMs.toFixed(1)} ms`,
      ceiling: `${cell.requests.toFixed(1)} requests`,
      ratio: formatPercent(cell.cpuMs, cell.ms),
      aim: {
        text: `${CPU_MS_AIM} ms in ${REQUESTS_AIM} requests or less`,
        met: cell.cpuMs <= CPU_MS_AIM && cell.requests <= REQUESTS_AIM,
      },
    })),
  };
}
