// Test databases are empty or cloned, and dropped even with open connections.
import { Client } from "pg";
import { expect, inject, it } from "vitest";
import { openDatabase } from "../../../src/store/postgres/database.ts";
import { silentLog } from "../quiet-log.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

async function open({ connection }: TestDatabase) {
  return await openDatabase({
    connection,
    schema: "sextant",
    poolMax: 1,
    log: silentLog,
    applicationName: "test",
  });
}

it("creates an empty database, or a copy of another one", async () => {
  const first = await createTestDatabase();
  const database = await open(first);
  await database.query("CREATE TABLE marks (n integer); INSERT INTO marks VALUES (1)");
  await database.close();

  const copy = await createTestDatabase({ template: first.name });
  const empty = await createTestDatabase();
  const [copied, bare] = [await open(copy), await open(empty)];
  expect((await copied.query("SELECT n FROM marks")).rows).toEqual([{ n: 1 }]);
  expect((await bare.query("SELECT to_regclass('marks') AS marks")).rows).toEqual([{ marks: null }]);
  // Dropped while connected: a failing test must not leave its database behind.
  await Promise.all([first.drop(), copy.drop(), empty.drop()]);
  await copied.close();
  await bare.close();

  const server = inject("postgres");
  const client = new Client(
    server.kind === "given"
      ? server.url
      : { host: server.host, user: server.user, database: "postgres", port: 5432, ssl: false },
  );
  await client.connect();
  const names = [first.name, copy.name, empty.name];
  const remaining = await client.query("SELECT 1 FROM pg_database WHERE datname = ANY($1)", [names]);
  await client.end();
  expect(remaining.rows).toEqual([]);
});
