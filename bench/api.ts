// How fast the indexing API answers, hot and cold, held against bare HTTP and the bare driver at the same moment.

import { type Depth, deepPage, FIRST_PAGE, PAGE, routesOf } from "./api/api-routes.ts";
import { makeRows } from "./api/api-rows.ts";
import type { Cell, LoadReport, LoadTask, RouteReport } from "./api/load-child.ts";
import type { RawTask } from "./api/raw-child.ts";
import { type Sizes, sizesOf } from "./api/row-values.ts";
import type { ApiReady, ServerReady } from "./api/server-child.ts";
import { type BenchServer, openBenchDatabase, startBenchServer } from "./backfill/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  grouped,
  type Measurement,
  percent,
  perSecond,
} from "./measurement.ts";
import { type Child, startChild } from "./start-child.ts";
import { tell } from "./tell.ts";

const SCHEMA = "sextant";
// A tenth of the rows unless everything is asked for: filling takes seconds then, and indexes are as deep but for a level.
const SCALE = 0.1;
const ROUNDS = 3;
const MS_PER_CELL = 500;
const FULL_MS_PER_CELL = 1_000;

export const apiBench: Bench = {
  name: "api",
  async run(options) {
    const children: Child[] = [];
    const start: Start = (name, file, task, node = []) => {
      const child = startChild({
        name,
        file: new URL(file, import.meta.url),
        args: [JSON.stringify(task)],
        node,
      });
      children.push(child);
      return child;
    };
    const server = await startBenchServer();
    try {
      return await measure(options, server, start);
    } finally {
      for (const child of children) await child.stop();
      await server.stop();
    }
  },
};

type Start = (name: string, file: string, task: object, node?: readonly string[]) => Child;

async function measure(
  { full, scale, profileFolder }: BenchOptions,
  server: BenchServer,
  start: Start,
): Promise<readonly Measurement[]> {
  const sizes = sizesOf(scale ?? (full ? 1 : SCALE));
  const place = { connection: server.connection, schema: SCHEMA };
  const database = await openBenchDatabase(place);
  try {
    await makeRows(database, sizes);
  } finally {
    await database.close();
  }
  const profile = profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  const api = await start("api", "api/server-child.ts", place, profile).next<ApiReady>();
  const depth = await depthOf(api.url, sizes);
  const rawTask: RawTask = {
    apiUrl: api.url,
    paths: routesOf(sizes, depth).map(({ url }) => url(0)),
  };
  const raw = await start("node:http", "api/raw-child.ts", rawTask).next<ServerReady>();
  tell("load");
  const msPerCell = full ? FULL_MS_PER_CELL : MS_PER_CELL;
  const task: LoadTask = { ...place, api, raw, sizes, depth, rounds: ROUNDS, msPerCell };
  const report = await start("load", "api/load-child.ts", task).next<LoadReport>();
  return summary(report.routes, sizes, depth);
}

/** The cursor that leads to the deep page, as the API hands it out. */
async function depthOf(url: string, sizes: Sizes): Promise<Depth> {
  const page = deepPage(sizes);
  const answer = await fetch(`${url}/intents?limit=1&offset=${(page - 1) * PAGE - 1}`);
  const { pagination } = (await answer.json()) as { pagination?: { next_cursor?: string } };
  if (!pagination?.next_cursor) throw new Error(`there is no page ${page} of intents`);
  return { page, cursor: pagination.next_cursor };
}

const rate = ({ requests, ms }: Cell): number => perSecond(requests, ms);
const each = ({ requests, cpuMs }: Cell): string => `${((cpuMs * 1000) / requests).toFixed(0)} µs`;

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
  const page = `/intents, page ${depth.page.toLocaleString("en-US")} by`;
  return [
    {
      what: "rows",
      value: grouped(sizes.agents),
      note: `agents, ${grouped(sizes.intents)} intents, ${grouped(sizes.bids)} bids, ${grouped(sizes.sales)} quotes and receipts each`,
    },
    {
      what: "route",
      value: "hot req/s",
      note: "of node:http | cold req/s | of the driver | processor time per request: hot, node:http, cold, driver",
    },
    ...routes.map(toMeasurement),
    { what: "cursor page over page 1", ...over(`${page} cursor`, FIRST_PAGE) },
    { what: "offset page over page 1", ...over(`${page} offset`, FIRST_PAGE) },
    { what: "analytics over /agents/:agentId", ...over("/analytics/commerce", "/agents/:agentId") },
  ];
}

function toMeasurement({ title, hot, rawHot, cold, driver }: RouteReport): Measurement {
  const colder =
    cold && driver
      ? [grouped(rate(cold)).padStart(10), percent(rate(cold), rate(driver)).padStart(13)]
      : ["-".padStart(10), "-".padStart(13)];
  const times = [hot, rawHot, cold, driver].map((cell) => (cell ? each(cell) : "-").padStart(8)).join("");
  return {
    what: title,
    value: grouped(rate(hot)),
    note: [percent(rate(hot), rate(rawHot)).padStart(12), ...colder, times].join(" | "),
  };
}
