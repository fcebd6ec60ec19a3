// How long the reads of an index take, one at a time and without a cache.
import type { SqlText } from "../../src/schema/sql.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { measureStatementCost } from "../../tests/support/index/statement-cost.ts";
import type { ExplorerReady } from "../explorer/server-child.ts";
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { quantilesOf } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import { createReadCases, type ReadCase } from "./read-cases.ts";

export type MeasuredRead = {
  readonly name: string;
  readonly medianMs: number;
  /** Responses other than 200 and 404: mostly a slow read at its time limit. */
  readonly failed: number;
  /**
   * Pages of the database that the median request visits: the same on every machine. Null for what is not one
   * statement.
   */
  readonly pages: number | null;
};

// A slow read is clear after a few requests.
const MS_PER_CASE_MAX = 3_000;
const PROGRESS_EVERY = 20;
const STATEMENTS_EXPLAINED = 3;

export async function measureReads(
  start: StartChild,
  place: BenchDatabaseTarget,
  requestsPerCase: number,
): Promise<MeasuredRead[]> {
  const database = await openBenchDatabase(place);
  try {
    return await measureCases(start, place, { database, requestsPerCase });
  } finally {
    await database.close();
  }
}

async function measureCases(
  start: StartChild,
  place: BenchDatabaseTarget,
  { database, requestsPerCase }: { readonly database: Database; readonly requestsPerCase: number },
): Promise<MeasuredRead[]> {
  const cases = await sampleCases(database);
  const child = start("api", "explorer/server-child.ts", place);
  const { coldUrl } = await child.next<ExplorerReady>();
  const measured: MeasuredRead[] = [];
  for (const each of cases) {
    if (each.paths.length === 0) continue;
    const times = await measureCase(coldUrl, each, requestsPerCase);
    measured.push({ ...times, pages: await countPages(database, each.statements) });
    if (measured.length % PROGRESS_EVERY === 0) logProgress(`${measured.length} of ${cases.length} reads`);
  }
  await child.stop();
  return measured;
}

async function sampleCases(database: Database): Promise<ReadCase[]> {
  const { rows } = await database.query<{ start: string; head: string }>(
    "select d.start_block as start, c.block_number as head from deployment d, checkpoint c",
  );
  const [found] = rows;
  if (!found) throw new Error("the index is empty");
  return createReadCases({ session: database, start: Number(found.start), head: Number(found.head) });
}

async function countPages(database: Database, statements: readonly SqlText[]): Promise<number | null> {
  if (statements.length === 0) return null;
  const counted: number[] = [];
  for (const statement of statements.slice(0, STATEMENTS_EXPLAINED)) {
    counted.push((await measureStatementCost(database, statement)).pages);
  }
  return counted.sort((one, other) => one - other)[Math.floor(counted.length / 2)] ?? null;
}

async function measureCase(
  url: string,
  { name, paths }: ReadCase,
  requests: number,
): Promise<Omit<MeasuredRead, "pages">> {
  const tookMs: number[] = [];
  let failed = 0;
  const beganMs = performance.now();
  // The first two only make connections and plans.
  for (let request = -2; request < requests; request += 1) {
    if (tookMs.length > 1 && performance.now() - beganMs > MS_PER_CASE_MAX) break;
    const path = paths[(request + 2) % paths.length];
    const sentMs = performance.now();
    const response = await fetch(url + path);
    await response.arrayBuffer();
    if (request >= 0) tookMs.push(performance.now() - sentMs);
    if (response.status !== 200 && response.status !== 404) failed += 1;
  }
  return { name, medianMs: quantilesOf(tookMs).medianMs, failed };
}
