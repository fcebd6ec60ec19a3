// How the cost of a response grows with connections: hot, cold and unpaid, compared with Node's own HTTP server.
import { routesOf } from "../api/api-routes.ts";
import type { ServerReady } from "../api/cpu-time.ts";
import type { RawTask } from "../api/http-ceiling-child.ts";
import { tableSizesOfEvents } from "../api/row-generators.ts";
import { startApi } from "../api/start-api.ts";
import type { BenchServer } from "../harness/bench-database.ts";
import {
  aimAtLeast,
  type BenchReport,
  formatGrouped,
  formatPercent,
  type Headline,
  type Measurement,
} from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import { startPaidService } from "../portfolio/start-paid-service.ts";
import type { LoadTimes } from "./api-growth.ts";
import { cpuCell, type FindCell, loadCells, rateOfCell, waitCell } from "./load-cells.ts";
import type { CellTask } from "./load-cells-child.ts";

const ROUTE = "/agents/:agentId";
// No payment happens here, but the chain requires a payer.
const PAYERS = 1;
const HOT_PERCENTS = 70;

/** The measured response, and the bare server's response it is compared with. */
const KINDS = [
  { name: "hot", bare: "node:http" },
  { name: "cold", bare: "node:http" },
  { name: "unpaid", bare: "node:http, 402" },
];

type ConnectionsTask = LoadTimes & { readonly events: number; readonly connections: readonly number[] };

export async function measureConnectionGrowth(
  start: StartChild,
  server: BenchServer,
  { events, connections: counts, ...times }: ConnectionsTask,
): Promise<BenchReport> {
  const sizes = tableSizesOfEvents(events);
  const { connection } = server;
  const { api, depth, stop } = await startApi(start, { connection, schema: "api_connections" }, sizes);
  const path =
    routesOf(sizes, depth)
      .find(({ title }) => title === ROUTE)
      ?.url(0) ?? "";
  const rawTask: RawTask = { apiUrl: api.url, paths: [path] };
  const raw = await start("node:http", "api/http-ceiling-child.ts", rawTask).next<ServerReady>();
  logProgress("the paid service");
  const paid = await startPaidService(start, { connection, schema: "portfolio" }, PAYERS);
  const cells = counts.flatMap((connections): CellTask[] => {
    const cell = (name: string, task: Omit<CellTask, "name" | "connections">): CellTask => ({
      ...task,
      name: cellName(name, connections),
      connections,
    });
    const coldServer = { url: api.coldUrl, control: api.control };
    return [
      cell("hot", { server: api, status: 200, load: { path } }),
      cell("node:http", { server: raw, status: 200, load: { path } }),
      cell("cold", { server: coldServer, status: 200, load: { route: ROUTE } }),
      cell("unpaid", { server: paid.service, status: 402, load: { path: paid.path } }),
      cell("node:http, 402", { server: paid.raw, status: 402, load: { path: paid.path } }),
    ];
  });
  const cell = await loadCells(start, { cells, sizes, depth, ...times });
  await stop();
  await paid.stop();
  return {
    measurements: [
      {
        what: `connections, ${ROUTE} and /portfolio`,
        value: "req/s",
        note: "of node:http with as many | processor time per request: ours, node:http | median, p99: ours | node:http",
      },
      ...KINDS.flatMap(({ name, bare }) => counts.map((count) => rowOf(cell, name, bare, count))),
    ],
    headlines: KINDS.map(({ name, bare }) => headlineOf(cell, name, bare, Math.max(...counts))),
  };
}

const cellName = (name: string, connections: number): string =>
  `${name}, ${connections} connection${connections === 1 ? "" : "s"}`;

function rowOf(cell: FindCell, name: string, bare: string, connections: number): Measurement {
  const [ours, theirs] = [cell(cellName(name, connections)), cell(cellName(bare, connections))];
  return {
    what: `  ${cellName(name, connections)}`,
    value: formatGrouped(rateOfCell(ours)),
    note: [
      formatPercent(rateOfCell(ours), rateOfCell(theirs)).padStart(25),
      cpuCell(ours, theirs),
      waitCell(ours),
      waitCell(theirs),
    ].join(" |"),
  };
}

/** The figures with the most connections. */
function headlineOf(cell: FindCell, name: string, bare: string, most: number): Headline {
  const [ours, theirs] = [rateOfCell(cell(cellName(name, most))), rateOfCell(cell(cellName(bare, most)))];
  return {
    what: cellName(name, most),
    value: `${formatGrouped(ours)} req/s`,
    ceiling: `${formatGrouped(theirs)} node:http`,
    ratio: formatPercent(ours, theirs),
    aim: name === "hot" ? aimAtLeast(ours, theirs, HOT_PERCENTS) : null,
  };
}
