// How an index grows: one history, stopped at each decade of its events to weigh the tables and to time every read.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { type BenchDatabaseTarget, type BenchServer, openBenchDatabase } from "../harness/bench-database.ts";
import type { BenchReport } from "../harness/measurement.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import { growIndex } from "./grow-index.ts";
import type { GrowthStage, MeasuredIndex } from "./growth-stage.ts";
import { reportIndexGrowth } from "./index-growth-report.ts";
import { measureReads } from "./measure-reads.ts";
import { measureRollback, measureTableBytes, measureVacuum } from "./measure-tables.ts";
import type { RebuildReport, RebuildTask } from "./rebuild-child.ts";

type IndexGrowthTask = {
  readonly seed: number;
  /** The numbers of events at which it is measured. */
  readonly bounds: readonly number[];
  readonly requestsPerRead: number;
  /** Whether the largest index is rebuilt too, which takes as long as its backfill and as much disk again. */
  readonly full: boolean;
};

const SCHEMA = "sextant";
const STATE_FILE = "growth.json";
const VACUUMED = 5;

/** Finished work stays in the folder of the server: a run on the same folder continues one that was cut. */
export async function measureIndexGrowth(
  start: StartChild,
  server: BenchServer,
  task: IndexGrowthTask,
): Promise<BenchReport> {
  const place = { connection: server.connection, schema: SCHEMA };
  const file = join(server.folder, STATE_FILE);
  const stages: GrowthStage[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const store = (stage: GrowthStage) => {
    const known = stages.findIndex(({ until }) => until === stage.until);
    stages.splice(known < 0 ? stages.length : known, 1, stage);
    writeFileSync(file, JSON.stringify(stages));
  };
  const events = Math.max(...task.bounds);
  for (const until of task.bounds) {
    const known = stages.find((stage) => stage.until === until);
    if (known?.measured) continue;
    const filled = known?.filled ?? (await growIndex(start, place, { seed: task.seed, events, until }));
    store({ until, filled, measured: null });
    const isRebuilt = task.full || until < events;
    store({ until, filled, measured: await measureIndex(start, place, task, isRebuilt) });
  }
  return reportIndexGrowth(stages);
}

async function measureIndex(
  start: StartChild,
  place: BenchDatabaseTarget,
  { seed, requestsPerRead }: IndexGrowthTask,
  isRebuilt: boolean,
): Promise<MeasuredIndex> {
  const database = await openBenchDatabase(place);
  try {
    logProgress("rollback of the blocks that are not final");
    const rollback = await measureRollback(database);
    const largest = (await measureTableBytes(database)).slice(0, VACUUMED).map(({ name }) => name);
    logProgress(`vacuum of ${largest.join(", ")}`);
    const vacuumed = await measureVacuum(database, largest);
    const tables = await measureTableBytes(database);
    const { rows } = await database.query<{ events: string }>("select sum(log_count) as events from blocks");
    const reads = await measureReads(start, place, requestsPerRead);
    const rebuild = isRebuilt ? await measureRebuild(start, { ...place, seed }) : null;
    const [load = Number.NaN] = loadavg();
    return { events: Number(rows[0]?.events), tables, vacuumed, rollback, reads, rebuild, load };
  } finally {
    await database.close();
  }
}

async function measureRebuild(start: StartChild, task: RebuildTask): Promise<RebuildReport> {
  logProgress("rebuild of all rows");
  const child = start("rebuild", "growth/rebuild-child.ts", task);
  const report = await child.next<RebuildReport>();
  await child.stop();
  return report;
}
