// A database for benchmarks that run under `vitest bench`, on the server of the test run.
import { afterAll } from "vitest";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { silentLog } from "../quiet-log.ts";
import { createTestDatabase } from "./test-database.ts";

/** Few long iterations, for benchmarks that talk to a server. */
export const SERVER_BENCH_OPTIONS = { iterations: 10, time: 500, warmupIterations: 2, warmupTime: 0 };

/** Dropped at the end of the file. */
export async function openMicrobenchDatabase(): Promise<Database> {
  const { connection, drop } = await createTestDatabase();
  const database = await openDatabase({
    connection,
    schema: "sextant",
    poolMax: 10,
    log: silentLog,
    applicationName: "bench",
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });
  return database;
}
