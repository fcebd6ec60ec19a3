// Load as a process of its own: a list of cells, each so many connections on one server, in turns, with every wait timed.
import { type PageDepth, routesOf } from "../api/api-routes.ts";
import { readCpuMs, type ServerReady } from "../api/cpu-time.ts";
import { runHttpLoad } from "../api/http-load.ts";
import type { Cell } from "../api/load-child.ts";
import type { TableSizes } from "../api/row-generators.ts";
import { type Quantiles, quantilesOf } from "../harness/measurement.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";

export type CellTask = {
  readonly name: string;
  readonly server: ServerReady;
  readonly connections: number;
  readonly status: number;
  /** The same path repeatedly, or a route by its title, with another record for every request. */
  readonly load: { readonly path: string } | { readonly route: string };
};

export type LoadCellsTask = {
  readonly cells: readonly CellTask[];
  /** The contents of the API, for the routes. */
  readonly sizes: TableSizes;
  readonly depth: PageDepth;
  readonly rounds: number;
  readonly msPerCell: number;
};

/** Processor time is that of the server. */
export type LoadedCell = Cell & Quantiles & { readonly name: string };

/** In the order of the task. */
export type LoadCellsReport = { readonly cells: readonly LoadedCell[] };

const WARM_MS = 300;

const task = JSON.parse(process.argv[2] ?? "") as LoadCellsTask;
const routes = routesOf(task.sizes, task.depth);
const progress = createProgressReporter();
// Never the same twice, also between rounds and cells.
let requested = 0;

function pathsOf(load: CellTask["load"]): () => string {
  if ("path" in load) return () => load.path;
  const route = routes.find(({ title }) => title === load.route);
  if (!route) throw new Error(`there is no route ${load.route}`);
  return () => {
    requested += 1;
    return route.url(requested);
  };
}

const running = task.cells.map((cell) => ({
  cell,
  path: pathsOf(cell.load),
  total: { requests: 0, ms: 0, cpuMs: 0 },
  tookMs: [] as number[],
}));
for (const { cell, path } of running) {
  await runHttpLoad({ ...cell, url: cell.server.url, ms: Math.min(WARM_MS, task.msPerCell), path });
  progress(() => `${cell.name} is warm`);
}
for (let round = 1; round <= task.rounds; round += 1) {
  for (const { cell, path, total, tookMs } of running) {
    const { url, control } = cell.server;
    const beforeMs = await readCpuMs(control);
    const result = await runHttpLoad({
      ...cell,
      url,
      ms: task.msPerCell,
      path,
      onResponseMs: (ms) => tookMs.push(ms),
    });
    total.cpuMs += (await readCpuMs(control)) - beforeMs;
    total.requests += result.requests;
    total.ms += result.ms;
    progress(() => `round ${round} of ${task.rounds}, ${cell.name}`);
  }
}
const report: LoadCellsReport = {
  cells: running.map(({ cell, total, tookMs }) => ({ name: cell.name, ...total, ...quantilesOf(tookMs) })),
};
sendToParent(report);
