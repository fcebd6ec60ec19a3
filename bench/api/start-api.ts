// The API as it is measured: rows of a size in a schema of their own, and the server over them.
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import type { StartChild } from "../harness/with-children.ts";
import { BENCH_PAGE_SIZE, deepPage, OFFSET_MAX, type PageDepth } from "./api-routes.ts";
import { generateRows } from "./api-rows.ts";
import type { TableSizes } from "./row-generators.ts";
import type { ApiReady, ApiTask } from "./server-child.ts";

type StartedApi = { readonly api: ApiReady; readonly depth: PageDepth; stop(): Promise<void> };

export async function startApi(
  start: StartChild,
  place: BenchDatabaseTarget,
  sizes: TableSizes,
  nodeOptions: readonly string[] = [],
): Promise<StartedApi> {
  const database = await openBenchDatabase(place);
  try {
    await generateRows(database, sizes);
  } finally {
    await database.close();
  }
  const task: ApiTask = place;
  const child = start("api", "api/server-child.ts", task, nodeOptions);
  const api = await child.next<ApiReady>();
  return { api, depth: await findPageDepth(api.url, sizes), stop: () => child.stop() };
}

/** The cursor that leads to the deep page, as the API hands it out. */
export async function findPageDepth(url: string, sizes: TableSizes): Promise<PageDepth> {
  const page = deepPage(sizes);
  let cursor = "";
  // An offset leads on from a cursor, too, and has a limit: so many steps as that makes.
  for (let left = (page - 1) * BENCH_PAGE_SIZE; left > 0; ) {
    const step = Math.min(left, OFFSET_MAX);
    const from = cursor === "" ? "" : `&cursor=${cursor}`;
    const response = await fetch(`${url}/intents?limit=1&offset=${step - 1}${from}`);
    const { pagination } = (await response.json()) as { pagination?: { next_cursor?: string } };
    if (!pagination?.next_cursor) throw new Error(`there is no page ${page} of intents`);
    cursor = pagination.next_cursor;
    left -= step;
  }
  return { page, cursor };
}
