// How the cost of a response grows with the index: a few routes, hot and cold, over ever more events.
import { deepPageTitle, FIRST_PAGE, routesOf } from "../api/api-routes.ts";
import { countEventsOfSizes, tableSizesOfEvents } from "../api/row-generators.ts";
import { startApi } from "../api/start-api.ts";
import type { BenchServer } from "../harness/bench-database.ts";
import {
  aimAtMost,
  type BenchReport,
  formatGrouped,
  formatMicroseconds,
  formatPercent,
  type Headline,
  type Measurement,
} from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import { cpuCell, type FindCell, loadCells, waitCell } from "./load-cells.ts";
import type { CellTask, LoadedCell } from "./load-cells-child.ts";

export type LoadTimes = { readonly rounds: number; readonly msPerCell: number };

type Temperature = "hot" | "cold";
/** One size of the index, and what was measured over it. */
type Grown = {
  readonly events: number;
  readonly cell: (temperature: Temperature, name: string) => LoadedCell;
};

const AGENT = "/agents/:agentId";
const ANALYTICS = "/analytics/commerce";
// Its number is another in every size.
const DEEP = "a deep page by cursor";
const ROUTES = [AGENT, "/merchants/:id/reputation", ANALYTICS, FIRST_PAGE, DEEP];
// One request at a time: none waits for another, and no two are coalesced.
const CONNECTIONS = 1;
// Two equally fast things may seem a tenth apart on a busy machine.
const SAME_PERCENTS = 110;

export async function measureApiGrowth(
  start: StartChild,
  server: BenchServer,
  { bounds, ...times }: LoadTimes & { readonly bounds: readonly number[] },
): Promise<BenchReport> {
  const grown: Grown[] = [];
  for (const bound of bounds) grown.push(await measureOver(start, server, bound, times));
  const [least, most] = [grown[0], grown.at(-1)];
  if (!least || !most) throw new Error("nothing was measured");
  return {
    measurements: [
      {
        what: "api, one connection",
        value: "growth",
        note: `of the median, first to last | median, p99 and processor time per request over ${grown.map((each) => formatGrouped(each.events)).join(" | ")} events`,
      },
      ...ROUTES.flatMap((route) => [rowOf("hot", route, grown), rowOf("cold", route, grown)]),
    ],
    headlines: [steepest(least, most), ...withinLast(most)],
  };
}

async function measureOver(
  start: StartChild,
  server: BenchServer,
  wanted: number,
  times: LoadTimes,
): Promise<Grown> {
  const sizes = tableSizesOfEvents(wanted);
  const events = countEventsOfSizes(sizes);
  logProgress(`the API over ${formatGrouped(events)} events`);
  const place = { connection: server.connection, schema: `api_${wanted}` };
  const { api, depth, stop } = await startApi(start, place, sizes);
  const routes = routesOf(sizes, depth);
  const titleOf = (name: string) => (name === DEEP ? deepPageTitle(depth, "cursor") : name);
  const cells = ROUTES.flatMap((name): CellTask[] => {
    const title = titleOf(name);
    const path = routes.find((route) => route.title === title)?.url(0) ?? "";
    const shared = { connections: CONNECTIONS, status: 200 };
    const coldServer = { url: api.coldUrl, control: api.control };
    return [
      { ...shared, name: cellName("hot", name), server: api, load: { path } },
      { ...shared, name: cellName("cold", name), server: coldServer, load: { route: title } },
    ];
  });
  const cell: FindCell = await loadCells(start, { cells, sizes, depth, ...times });
  await stop();
  return { events, cell: (temperature, name) => cell(cellName(temperature, name)) };
}

const cellName = (temperature: Temperature, name: string): string => `${name}, ${temperature}`;

function rowOf(temperature: Temperature, name: string, grown: readonly Grown[]): Measurement {
  const cells = grown.map((each) => each.cell(temperature, name));
  const [first, last] = [cells[0]?.medianMs ?? Number.NaN, cells.at(-1)?.medianMs ?? Number.NaN];
  return {
    what: `  ${cellName(temperature, name)}`,
    value: formatPercent(last, first),
    note: cells.map((cell) => waitCell(cell) + cpuCell(cell)).join(" |"),
  };
}

function versus(what: string, part: number, whole: number, words: string): Omit<Headline, "aim"> {
  return {
    what,
    value: formatMicroseconds(part, 0),
    ceiling: `${formatMicroseconds(whole, 0)} ${words}`,
    ratio: formatPercent(part, whole),
  };
}

function steepest(least: Grown, most: Grown): Headline {
  const growths = ROUTES.map((name) => ({
    name,
    first: least.cell("cold", name).medianMs,
    last: most.cell("cold", name).medianMs,
  }));
  const { name, first, last } = growths.reduce((one, other) =>
    other.last / other.first > one.last / one.first ? other : one,
  );
  const what = `api, cold median, steepest of ${ROUTES.length} routes: ${name} over ${formatGrouped(most.events)} events`;
  return { ...versus(what, last, first, `over ${formatGrouped(least.events)}`), aim: null };
}

/** Reads that must not cost more than a plain one, however much is indexed. */
function withinLast({ events, cell }: Grown): Headline[] {
  const line = (name: string, plain: string, percents: number): Headline => {
    const [part, whole] = [cell("cold", name).medianMs, cell("cold", plain).medianMs];
    const what = `api, cold median, ${name} over ${formatGrouped(events)} events`;
    return { ...versus(what, part, whole, plain), aim: aimAtMost(part, whole, percents) };
  };
  return [line(DEEP, FIRST_PAGE, SAME_PERCENTS), line(ANALYTICS, AGENT, 100)];
}
