// The API of two versions over the same rows, in turns: requests a second and processor time, hot and cold.
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchRoute, routesOf } from "../api/api-routes.ts";
import { readCpuMs } from "../api/cpu-time.ts";
import type { FillTask } from "../api/fill-child.ts";
import { runHttpLoad } from "../api/http-load.ts";
import { type TableSizes, tableSizes } from "../api/row-generators.ts";
import type { ApiReady, ApiTask } from "../api/server-child.ts";
import { findPageDepth } from "../api/start-api.ts";
import type { BenchDatabaseTarget } from "../harness/bench-database.ts";
import { type BenchOptions, chooseSize, type Measurement } from "../harness/measurement.ts";
import { createProgressLog, logProgress } from "../harness/progress.ts";
import { profileOptions, type StartChild, withServer } from "../harness/with-children.ts";
import { type ApiCell, addCells, type ComparedRoute, NO_REQUESTS, reportApis } from "./api-report.ts";
import { createRunDatabase, type RunDatabase } from "./run-database.ts";
import { TURNS, type Version, type VersionName, type Versions } from "./versions.ts";

const SCHEMA = "sextant";
// As the benchmark of the API has.
const SCALE = 0.1;
// A version from before there was this process gets it: it uses what each version has.
const FILL_CHILD = "api/fill-child.ts";
const MS_PER_CELL = { quick: 20, usual: 300, full: 1_000 };

/** One version that serves; `routes` have its own cursors. */
type ServedVersion = {
  readonly api: ApiReady;
  readonly database: RunDatabase;
  readonly routes: readonly BenchRoute[];
  /** Never the same record twice, also between routes and turns. */
  requested: number;
  stop(): Promise<void>;
};

type Temperature = "hot" | "cold";

export function compareApis(options: BenchOptions, versions: Versions): Promise<readonly Measurement[]> {
  const { database: kind, scale, full } = options;
  return withServer(kind, async (start, { connection }) => {
    const sizes = tableSizes(scale ?? (full ? 1 : SCALE));
    const task = { start, connection, sizes, node: profileOptions(options.profileFolder) };
    const served: Partial<Record<VersionName, ServedVersion>> = {};
    try {
      for (const version of Object.values(versions)) served[version.name] = await serve(version, task);
      return reportApis(await measureRoutes(served, chooseSize(options, MS_PER_CELL)));
    } finally {
      for (const { stop, database } of Object.values(served)) {
        await stop();
        await database.drop();
      }
    }
  });
}

type ServeTask = {
  readonly start: StartChild;
  readonly connection: BenchDatabaseTarget["connection"];
  readonly sizes: TableSizes;
  readonly node: readonly string[];
};

async function serve(
  version: Version,
  { start, connection, sizes, node }: ServeTask,
): Promise<ServedVersion> {
  const { name, folder } = version;
  logProgress(`rows of the version ${name}`);
  const database = await createRunDatabase(connection, `api_${name}`);
  const fillFile = join(folder, "bench", FILL_CHILD);
  if (!existsSync(fillFile)) {
    await copyFile(fileURLToPath(new URL(`../${FILL_CHILD}`, import.meta.url)), fillFile);
  }
  const place = { connection: database.connection, schema: SCHEMA };
  const fillTask: FillTask = { ...place, sizes };
  const fill = start(`rows, ${name}`, FILL_CHILD, fillTask, [], folder);
  await fill.next();
  await fill.stop();
  const apiTask: ApiTask = place;
  const child = start(`api, ${name}`, "api/server-child.ts", apiTask, node, folder);
  const api = await child.next<ApiReady>();
  const routes = routesOf(sizes, await findPageDepth(api.url, sizes));
  return { api, database, routes, requested: 0, stop: () => child.stop() };
}

async function measureRoutes(
  { before, now }: Partial<Record<VersionName, ServedVersion>>,
  msPerCell: number,
): Promise<ComparedRoute[]> {
  if (!before || !now) throw new Error("both versions must be served");
  const served = { before, now };
  const progress = createProgressLog("load");
  const compared: ComparedRoute[] = [];
  for (const [at, { title, sql }] of now.routes.entries()) {
    const compareAt = async (temperature: Temperature) => {
      const sums = { before: NO_REQUESTS, now: NO_REQUESTS };
      for (const name of ["before", "now"] as const)
        await measureCell(served[name], at, temperature, msPerCell);
      for (const name of TURNS) {
        sums[name] = addCells(sums[name], await measureCell(served[name], at, temperature, msPerCell));
        progress(() => `${title}, ${temperature}`);
      }
      return sums;
    };
    compared.push({
      title,
      hot: await compareAt("hot"),
      cold: sql === null ? null : await compareAt("cold"),
    });
  }
  return compared;
}

async function measureCell(
  served: ServedVersion,
  at: number,
  temperature: Temperature,
  ms: number,
): Promise<ApiCell> {
  const { api, database } = served;
  const route = served.routes[at];
  if (!route) throw new Error(`there is no route ${at}`);
  const first = route.url(0);
  const etag = route.conditional ? (await fetch(api.url + first)).headers.get("etag") : null;
  const path = () => {
    if (temperature === "hot") return first;
    served.requested += 1;
    return route.url(served.requested);
  };
  const spent = async () => ({
    cpuMs: await readCpuMs(api.control),
    databaseMs: (await database.readCosts()).cpuMs,
  });
  const before = await spent();
  const { requests, ms: tookMs } = await runHttpLoad({
    url: temperature === "hot" ? api.url : api.coldUrl,
    connections: route.connections,
    ms,
    path,
    status: etag === null ? 200 : 304,
    ...(etag === null ? {} : { header: `If-None-Match: ${etag}` }),
  });
  const after = await spent();
  return {
    requests,
    ms: tookMs,
    cpuMs: after.cpuMs - before.cpuMs,
    databaseMs:
      after.databaseMs === null || before.databaseMs === null ? null : after.databaseMs - before.databaseMs,
  };
}
