// A database whose locks are tested: with a table that holders write to, and processes that hold a lock.
import { createLog } from "../../../src/lib/log.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { type NodeChild, startNodeChild } from "../process/node-child.ts";
import { createMigratedDatabase, type TestDatabase } from "./test-database.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const CHILD = new URL("./lock-child.ts", import.meta.url);

export class LockDatabase {
  readonly database: Database;
  readonly #place: TestDatabase;

  private constructor(database: Database, place: TestDatabase) {
    this.database = database;
    this.#place = place;
  }

  static async open(): Promise<LockDatabase> {
    const place = await createMigratedDatabase();
    const { connection } = place;
    const options = { connection, schema: "sextant", poolMax: 4, log, applicationName: "test" };
    return new LockDatabase(await openDatabase(options), place);
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#place.drop();
  }

  /** The table that holders write their names to, empty. */
  async createWritten(): Promise<void> {
    await this.database.query("DROP TABLE IF EXISTS written; CREATE TABLE written (who text)");
  }

  async readWriters(): Promise<string[]> {
    const { rows } = await this.database.query<{ who: string }>("SELECT who FROM written ORDER BY who");
    return rows.map(({ who }) => who);
  }

  /** Terminates connections of the name, as a network failure or an operator would; returns how many. */
  async disconnect(
    applicationName: string,
    options: { readonly newerThanPid?: number } = {},
  ): Promise<number> {
    const { count } = await this.database.query({
      text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = $2
        AND ($3::int IS NULL OR backend_start > (SELECT backend_start FROM pg_stat_activity WHERE pid = $3))`,
      values: [applicationName, this.#place.name, options.newerThanPid ?? null],
    });
    return count;
  }

  /** A process that holds the lock "writer". */
  startHolder({ heartbeatMs = 5_000, takeOver = false } = {}): NodeChild {
    const { connection } = this.#place;
    const target = "url" in connection ? { url: connection.url.reveal() } : connection;
    return startNodeChild(CHILD, [JSON.stringify(target), String(heartbeatMs), takeOver ? "take over" : ""]);
  }
}
