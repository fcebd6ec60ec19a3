// A database whose clock can be wrong, for tests of channels: statements and defaults ask a function of the test.
import type { SqlText } from "../../../src/schema/sql.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

/** Once for each database; statements ask it as `askTestClock` writes them. */
export async function giveClock(database: Database): Promise<void> {
  await database.query("create table test_clock (ahead interval)");
  await database.query("insert into test_clock values ('0')");
  await database.query(`create function test_now() returns timestamptz language sql stable
    as 'select now() + ahead from test_clock'`);
  const { rows } = await database.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns where column_default = 'now()'
      and (table_name like 'channel%' or table_name like 'payment_%')`,
  );
  for (const { table_name: table, column_name: column } of rows) {
    await database.query(`alter table ${table} alter ${column} set default test_now()`);
  }
}

export async function setClockAhead(database: Database, seconds: number): Promise<void> {
  const text = "update test_clock set ahead = $1 * interval '1 second'";
  await database.query({ text, values: [seconds] });
}

/** The `rewrite` that a service injects. */
export const askTestClock = (statement: SqlText): SqlText => ({
  ...{ pieces: statement.pieces, values: statement.values },
  text: statement.text.replaceAll(/\bnow\(\)/g, "test_now()"),
  ...(statement.name === undefined ? {} : { name: statement.name }),
});
