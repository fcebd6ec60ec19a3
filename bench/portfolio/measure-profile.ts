// Measures what a snapshot spends its processor time on under load, and lists every node request of one that remembers nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerReady } from "../api/cpu-time.ts";
import {
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatPercent,
  type Measurement,
} from "../harness/measurement.ts";
import { profileOptions, type StartChild } from "../harness/with-children.ts";
import { readCpuProfile, shareCpuTime } from "./cpu-shares.ts";
import type { FreeServiceTask } from "./free-service-child.ts";
import {
  type CellPlan,
  measureCell,
  OTHER_WALLETS,
  PROCESSES_CHAIN_ID,
  SERVICE_OPTIONS,
  warmServices,
} from "./measure-processes.ts";
import type { NodesReady, NodesTask } from "./nodes-child.ts";
import { reportBill, reportRequests } from "./request-table.ts";
import type { RequestsReport, RequestsTask } from "./requests-child.ts";

const TOKENS = { quick: 10, usual: 1_000, full: 1_000 };
const CONNECTIONS = { quick: 2, usual: 16, full: 16 };
const LOAD_MS = { quick: 50, usual: 8_000, full: 20_000 };
// After five seconds a quarter of the processor time was still that of the compiler.
const WARM_MS = { quick: 20, usual: 20_000, full: 30_000 };

export async function measureProfile(
  options: BenchOptions,
  start: StartChild,
  delayMs: number,
): Promise<BenchReport> {
  const [tokens, connections] = [chooseSize(options, TOKENS), chooseSize(options, CONNECTIONS)];
  const nodesTask: NodesTask = {
    chainIds: [PROCESSES_CHAIN_ID],
    listed: tokens,
    delayMs,
    otherWallets: chooseSize(options, OTHER_WALLETS),
  };
  const { nodes } = await start("nodes", "portfolio/nodes-child.ts", nodesTask).next<NodesReady>();
  const [node] = nodes;
  if (!node) throw new Error("there is no node");
  const requestsTask: RequestsTask = { node, tokens };
  const { rows } = await start(
    "requests",
    "portfolio/requests-child.ts",
    requestsTask,
  ).next<RequestsReport>();
  const folder = mkdtempSync(join(tmpdir(), "sextant-profile-"));
  try {
    const task: FreeServiceTask = { node, tokens };
    const child = start("service", "portfolio/free-service-child.ts", task, [
      ...SERVICE_OPTIONS,
      ...profileOptions(folder),
    ]);
    const service = await child.next<ServerReady>();
    await warmServices([service], node, chooseSize(options, WARM_MS));
    const plan: CellPlan = { series: "processes", wallets: "different wallets", processes: 1, connections };
    const cell = await measureCell([service], node, plan, chooseSize(options, LOAD_MS));
    await child.stop();
    const shares = shareCpuTime(readCpuProfile(folder), cell.ms);
    const busyMs = shares.reduce((sum, { ms }) => sum + ms, 0);
    const perSnapshot = (ms: number) => `${(ms / cell.snapshots).toFixed(2)} ms`;
    const size = `${formatGrouped(tokens)} tokens on 1 chain`;
    return {
      measurements: [
        {
          what: "processor time of a snapshot",
          value: perSnapshot(busyMs),
          note: `by profile, ${perSnapshot(cell.cpuMs)} by the system | ${size}, ${connections} at once, different wallets of one block`,
        },
        ...shares.map(
          ({ kind, ms }): Measurement => ({
            what: `  ${kind}`,
            value: perSnapshot(ms),
            note: formatPercent(ms, busyMs),
          }),
        ),
        {
          what: "node requests of a snapshot",
          value: String(rows.length),
          note: `${size}, nothing remembered | round trip: methods | bytes there, back | others that could carry it | who asked`,
        },
        ...reportRequests(rows),
        ...reportBill(rows),
      ],
      headlines: [],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
