// The load as a process of its own: every route hot and cold against the API and its ceilings, in turns.
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { type BenchRoute, type PageDepth, routesOf } from "./api-routes.ts";
import { readCpuMs, type ServerReady } from "./cpu-time.ts";
import { type Driver, listStatements, openPipelinedDriver, openPooledDriver } from "./driver.ts";
import { type LoadResult, runHttpLoad } from "./http-load.ts";
import type { TableSizes } from "./row-generators.ts";
import type { ApiReady } from "./server-child.ts";

export type LoadTask = BenchDatabaseTarget & {
  readonly api: ApiReady;
  readonly raw: ServerReady;
  readonly sizes: TableSizes;
  readonly depth: PageDepth;
  readonly rounds: number;
  readonly msPerCell: number;
  /** Statements of a route that the drivers send again and again. */
  readonly statements: number;
};

export type Cell = { readonly requests: number; readonly ms: number; readonly cpuMs: number };

export type RouteReport = {
  readonly title: string;
  /** Whether all requests are the same: then the API coalesces them into one query. */
  readonly shared: boolean;
  readonly hot: Cell;
  readonly rawHot: Cell;
  readonly cold: Cell | null;
  /** Named statements over a pool. */
  readonly driver: Cell | null;
  readonly pipelined: Cell | null;
};

export type LoadReport = { readonly routes: readonly RouteReport[] };

const WARM_MS = 300;

const task = JSON.parse(process.argv[2] ?? "") as LoadTask;
const database = await openBenchDatabase(task);
const pooled = openPooledDriver(task);
const pipelined = await openPipelinedDriver(database);
const progress = createProgressReporter();
// Never the same twice, also between rounds and routes.
let requested = 0;

async function measured(server: ServerReady, run: () => Promise<LoadResult>): Promise<Cell> {
  const before = await readCpuMs(server.control);
  const result = await run();
  return { ...result, cpuMs: (await readCpuMs(server.control)) - before };
}

async function cellsOf(route: BenchRoute) {
  const path = route.url(0);
  const etag = (await fetch(task.api.url + path)).headers.get("etag");
  const status = route.conditional ? 304 : 200;
  const header = route.conditional ? { header: `If-None-Match: ${etag}` } : {};
  const shared = { connections: route.connections, status, ...header };
  const statements = listStatements(route, task.statements);
  const hot = (server: ServerReady, ms: number) =>
    measured(server, () => runHttpLoad({ ...shared, url: server.url, ms, path: () => path }));
  const cold = (ms: number) =>
    measured(task.api, () => {
      const from = requested;
      return runHttpLoad({
        ...shared,
        url: task.api.coldUrl,
        ms,
        path(number) {
          requested = from + number + 1;
          return route.url(from + number);
        },
      });
    });
  const direct =
    (driver: Driver) =>
    async (ms: number): Promise<Cell> => {
      const before = process.cpuUsage();
      const result = await driver.run(statements, { inFlight: route.connections, ms });
      const { user, system } = process.cpuUsage(before);
      return { ...result, cpuMs: (user + system) / 1000 };
    };
  return {
    hot: (ms: number) => hot(task.api, ms),
    rawHot: (ms: number) => hot(task.raw, ms),
    ...(statements.length > 0 ? { cold, driver: direct(pooled), pipelined: direct(pipelined) } : {}),
  };
}

// The best round, of ours as of the ceilings: neighbours on the machine can only make a round slower.
const best = (cells: readonly Cell[]): Cell =>
  cells.reduce((one, other) => (other.requests / other.ms > one.requests / one.ms ? other : one));

const routes = [];
for (const route of routesOf(task.sizes, task.depth)) {
  const cells: Readonly<Record<string, (ms: number) => Promise<Cell>>> = await cellsOf(route);
  for (const run of Object.values(cells)) await run(Math.min(WARM_MS, task.msPerCell));
  const shared = route.url(0) === route.url(1);
  routes.push({ title: route.title, shared, cells, taken: new Map<string, Cell[]>() });
  progress(() => `${route.title} is warm`);
}
for (let round = 0; round < task.rounds; round += 1) {
  for (const { title, cells, taken } of routes) {
    for (const [name, run] of Object.entries(cells)) {
      taken.set(name, [...(taken.get(name) ?? []), await run(task.msPerCell)]);
    }
    progress(() => `round ${round + 1} of ${task.rounds}, ${title}`);
  }
}
await pooled.close();
await pipelined.close();
await database.close();
const report: LoadReport = {
  routes: routes.map(({ title, shared, taken }) => {
    const cell = (name: string) => best(taken.get(name) ?? []);
    const colder = taken.has("cold");
    return {
      title,
      shared,
      hot: cell("hot"),
      rawHot: cell("rawHot"),
      cold: colder ? cell("cold") : null,
      driver: colder ? cell("driver") : null,
      pipelined: colder ? cell("pipelined") : null,
    };
  }),
};
sendToParent(report);
