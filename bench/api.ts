// Throughput of the indexing API, hot and cold, compared with bare HTTP and the bare driver at the same moment.

import { compareApis } from "./against/compare-api.ts";
import { requestRate, summarizeApi } from "./api/api-headlines.ts";
import { deepPageTitle, FIRST_PAGE, type PageDepth, routesOf } from "./api/api-routes.ts";
import type { ServerReady } from "./api/cpu-time.ts";
import type { RawTask } from "./api/http-ceiling-child.ts";
import type { Cell, LoadReport, LoadTask, RouteReport } from "./api/load-child.ts";
import { type TableSizes, tableSizes } from "./api/row-generators.ts";
import { startApi } from "./api/start-api.ts";
import type { BenchServer } from "./harness/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatMicroseconds,
  formatPercent,
  type Measurement,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { profileOptions, type StartChild, withServer } from "./harness/with-children.ts";

const SCHEMA = "sextant";
// A tenth of the rows unless all are requested: filling takes seconds then, and indexes lose at most one level.
const SCALE = 0.1;
const ROUNDS = { quick: 1, usual: 5, full: 5 };
const MS_PER_CELL = { quick: 20, usual: 300, full: 600 };
// At least as many values as a cell requests of the API, so that both find the database equally warm.
const STATEMENTS = { quick: 100, usual: 10_000, full: 10_000 };

export const apiBench: Bench = {
  name: "api",
  anyDatabase: true,
  run: (options) => withServer(options.database, (start, server) => measure(options, server, start)),
  compare: compareApis,
};

async function measure(options: BenchOptions, server: BenchServer, start: StartChild): Promise<BenchReport> {
  const { full, scale, profileFolder } = options;
  const sizes = tableSizes(scale ?? (full ? 1 : SCALE));
  const place = { connection: server.connection, schema: SCHEMA };
  const { api, depth } = await startApi(start, place, sizes, profileOptions(profileFolder));
  const rawTask: RawTask = {
    apiUrl: api.url,
    paths: routesOf(sizes, depth).map(({ url }) => url(0)),
  };
  const raw = await start("node:http", "api/http-ceiling-child.ts", rawTask).next<ServerReady>();
  logProgress("load");
  const task: LoadTask = {
    ...place,
    api,
    raw,
    sizes,
    depth,
    rounds: chooseSize(options, ROUNDS),
    msPerCell: chooseSize(options, MS_PER_CELL),
    statements: chooseSize(options, STATEMENTS),
  };
  const report = await start("load", "api/load-child.ts", task).next<LoadReport>();
  return {
    measurements: summary(report.routes, sizes, depth),
    headlines: summarizeApi(report.routes, deepPageTitle(depth, "cursor")),
  };
}

const each = ({ requests, cpuMs }: Cell): string => formatMicroseconds(cpuMs / requests, 0);

function summary(routes: readonly RouteReport[], sizes: TableSizes, depth: PageDepth): Measurement[] {
  const named = (title: string): RouteReport => {
    const found = routes.find((route) => route.title === title);
    if (!found) throw new Error(`${title} was not measured`);
    return found;
  };
  const over = (top: string, bottom: string) => {
    const [a, b] = [named(top), named(bottom)];
    const cold = a.cold && b.cold ? formatPercent(requestRate(a.cold), requestRate(b.cold)) : "";
    return { value: cold, note: `cold; hot ${formatPercent(requestRate(a.hot), requestRate(b.hot))}` };
  };
  return [
    {
      what: "rows",
      value: formatGrouped(sizes.agents),
      note: `agents, ${formatGrouped(sizes.intents)} intents, ${formatGrouped(sizes.bids)} bids, ${formatGrouped(sizes.sales)} quotes and receipts each`,
    },
    {
      what: "route",
      value: "hot req/s",
      note: "of node:http | cold req/s | of the driver (a pool of 10) | of the pipelined driver | processor time per request: hot, node:http, cold, driver, pipelined",
    },
    ...routes.map(toMeasurement),
    { what: "cursor page over page 1", ...over(deepPageTitle(depth, "cursor"), FIRST_PAGE) },
    { what: "offset page over page 1", ...over(deepPageTitle(depth, "offset"), FIRST_PAGE) },
    { what: "analytics over /agents/:agentId", ...over("/analytics/commerce", "/agents/:agentId") },
  ];
}

function toMeasurement({ title, hot, rawHot, cold, driver, pipelined }: RouteReport): Measurement {
  const ratio = (ceiling: Cell | null) =>
    cold && ceiling ? formatPercent(requestRate(cold), requestRate(ceiling)) : "-";
  const colder = [
    (cold ? formatGrouped(requestRate(cold)) : "-").padStart(10),
    ratio(driver).padStart(27),
    ratio(pipelined).padStart(23),
  ];
  const times = [hot, rawHot, cold, driver, pipelined]
    .map((cell) => (cell ? each(cell) : "-").padStart(8))
    .join("");
  return {
    what: title,
    value: formatGrouped(requestRate(hot)),
    note: [formatPercent(requestRate(hot), requestRate(rawHot)).padStart(12), ...colder, times].join(" | "),
  };
}
