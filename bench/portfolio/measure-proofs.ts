// Measures what `proof=1` adds to a snapshot: time, bytes, and how much of the value is proven.
import {
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatPercent,
} from "../harness/measurement.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { NodesReady, NodesTask } from "./nodes-child.ts";
import type { ProofsReport, ProofsTask } from "./proofs-child.ts";

const CHAIN_ID = 8453;
// Thirty tokens in all: with dollars, wrapped coins, shares of a vault, and the native coin.
const HELD_PLAIN = { quick: 2, usual: 26, full: 26 };
const LISTED = { quick: 10, usual: 1_000, full: 1_000 };
const ROUNDS = { quick: 1, usual: 10, full: 30 };

export async function measureProofs(
  options: BenchOptions,
  start: StartChild,
  delayMs: number,
): Promise<BenchReport> {
  const tokens = chooseSize(options, LISTED);
  const nodesTask: NodesTask = {
    ...{ chainIds: [CHAIN_ID], listed: tokens, delayMs },
    heldPlain: chooseSize(options, HELD_PLAIN),
  };
  const { nodes } = await start("nodes", "portfolio/nodes-child.ts", nodesTask).next<NodesReady>();
  const [node] = nodes;
  if (!node) throw new Error("there is no node");
  const task: ProofsTask = { node, tokens, rounds: chooseSize(options, ROUNDS) };
  return describe(await start("proofs", "portfolio/proofs-child.ts", task).next<ProofsReport>(), delayMs);
}

function describe(report: ProofsReport, delayMs: number): BenchReport {
  const { tokens, plain, first, known, claims, unproven, nodes, nodeBytes, share } = report;
  const time = ({ ms, cpuMs }: ProofsReport["first"]) =>
    `${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of processor`;
  const size = ({ bytes, zipped }: ProofsReport["plain"]) =>
    `${formatGrouped(bytes)} bytes, ${formatGrouped(zipped)} by gzip`;
  const row = (what: string, value: string, note?: string) => ({ what, value, ...(note && { note }) });
  return {
    measurements: [
      row(
        `a snapshot of ${tokens} tokens without proofs`,
        time(plain),
        `every response ${delayMs} ms late; ${size(plain)}`,
      ),
      row("  with proofs, slots known", time(known), size(known)),
      row("  with proofs, slots to be found", time(first), "two round trips more"),
      row("  claims", `${claims}, ${unproven} unproven`, `share of the value ${share}`),
      row("  trie nodes", String(nodes), `${formatGrouped(nodeBytes)} bytes on a chain of few accounts`),
    ],
    headlines: [
      {
        what: `proofs of a snapshot of ${tokens} tokens`,
        value: `${(known.ms - plain.ms).toFixed(0)} ms`,
        ceiling: `${plain.ms.toFixed(0)} ms without`,
        ratio: formatPercent(known.ms - plain.ms, plain.ms),
        aim: null,
      },
    ],
  };
}
