// How fast the indexing API answers, hot and cold, held against bare HTTP and the bare driver at the same moment.

import { apiHeadlines, rate } from "./api/api-headlines.ts";
import { type Depth, deepTitle, FIRST_PAGE, routesOf } from "./api/api-routes.ts";
import type { RawTask } from "./api/http-ceiling-child.ts";
import type { Cell, LoadReport, LoadTask, RouteReport } from "./api/load-child.ts";
import { type Sizes, sizesOf } from "./api/row-generators.ts";
import type { ServerReady } from "./api/server-child.ts";
import { startApi } from "./api/start-api.ts";
import { type BenchServer, startBenchServer } from "./harness/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  grouped,
  type Measurement,
  microseconds,
  percent,
} from "./harness/measurement.ts";
import { tell } from "./harness/progress.ts";
import { profileOptions, type Start, withChildren } from "./harness/with-children.ts";

const SCHEMA = "sextant";
// A tenth of the rows unless everything is asked for: filling takes seconds then, and indexes are as deep but for a level.
const SCALE = 0.1;
const ROUNDS = 5;
const MS_PER_CELL = 300;
const FULL_MS_PER_CELL = 600;

export const apiBench: Bench = {
  name: "api",
  anyDatabase: true,
  async run(options) {
    const server = await startBenchServer(options.database);
    try {
      return await withChildren((start) => measure(options, server, start));
    } finally {
      await server.stop();
    }
  },
};

async function measure(
  { full, scale, profileFolder }: BenchOptions,
  server: BenchServer,
  start: Start,
): Promise<BenchReport> {
  const sizes = sizesOf(scale ?? (full ? 1 : SCALE));
  const place = { connection: server.connection, schema: SCHEMA };
  const { api, depth } = await startApi(start, place, sizes, profileOptions(profileFolder));
  const rawTask: RawTask = {
    apiUrl: api.url,
    paths: routesOf(sizes, depth).map(({ url }) => url(0)),
  };
  const raw = await start("node:http", "api/http-ceiling-child.ts", rawTask).next<ServerReady>();
  tell("load");
  const msPerCell = full ? FULL_MS_PER_CELL : MS_PER_CELL;
  const task: LoadTask = { ...place, api, raw, sizes, depth, rounds: ROUNDS, msPerCell };
  const report = await start("load", "api/load-child.ts", task).next<LoadReport>();
  return {
    measurements: summary(report.routes, sizes, depth),
    headlines: apiHeadlines(report.routes, deepTitle(depth, "cursor")),
  };
}

const each = ({ requests, cpuMs }: Cell): string => microseconds(cpuMs / requests, 0);

function summary(routes: readonly RouteReport[], sizes: Sizes, depth: Depth): Measurement[] {
  const named = (title: string): RouteReport => {
    const found = routes.find((route) => route.title === title);
    if (!found) throw new Error(`${title} was not measured`);
    return found;
  };
  const over = (top: string, bottom: string) => {
    const [a, b] = [named(top), named(bottom)];
    const cold = a.cold && b.cold ? percent(rate(a.cold), rate(b.cold)) : "";
    return { value: cold, note: `cold; hot ${percent(rate(a.hot), rate(b.hot))}` };
  };
  return [
    {
      what: "rows",
      value: grouped(sizes.agents),
      note: `agents, ${grouped(sizes.intents)} intents, ${grouped(sizes.bids)} bids, ${grouped(sizes.sales)} quotes and receipts each`,
    },
    {
      what: "route",
      value: "hot req/s",
      note: "of node:http | cold req/s | of the driver (a pool of 10) | of the pipelined driver | processor time per request: hot, node:http, cold, driver, pipelined",
    },
    ...routes.map(toMeasurement),
    { what: "cursor page over page 1", ...over(deepTitle(depth, "cursor"), FIRST_PAGE) },
    { what: "offset page over page 1", ...over(deepTitle(depth, "offset"), FIRST_PAGE) },
    { what: "analytics over /agents/:agentId", ...over("/analytics/commerce", "/agents/:agentId") },
  ];
}

function toMeasurement({ title, hot, rawHot, cold, driver, pipelined }: RouteReport): Measurement {
  const ratio = (ceiling: Cell | null) => (cold && ceiling ? percent(rate(cold), rate(ceiling)) : "-");
  const colder = [
    (cold ? grouped(rate(cold)) : "-").padStart(10),
    ratio(driver).padStart(27),
    ratio(pipelined).padStart(23),
  ];
  const times = [hot, rawHot, cold, driver, pipelined]
    .map((cell) => (cell ? each(cell) : "-").padStart(8))
    .join("");
  return {
    what: title,
    value: grouped(rate(hot)),
    note: [percent(rate(hot), rate(rawHot)).padStart(12), ...colder, times].join(" | "),
  };
}
