// Sessions that several schemas share: changing the schema on a server that hangs or dies ends in time, with a fault.
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import {
  type BreakableConnection,
  openBreakableConnection,
} from "../../../tests/support/database/breakable-connection.ts";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { silentLog as log } from "../../../tests/support/quiet-log.ts";
import { Secret } from "../../lib/secret.ts";
import { prepareSql, sql } from "../../schema/sql.ts";
import { type Database, openDatabases } from "./database.ts";
import { openRecordStore } from "./record-store.ts";

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => server.drop());

async function openWire(): Promise<BreakableConnection> {
  const wire = await openBreakableConnection(server.connection);
  onTestFinished(() => wire.close());
  return wire;
}

const urlOf = ({ connection }: BreakableConnection): string =>
  "url" in connection ? connection.url.reveal() : "";

/** Two schemas over one session, which was last used for the first; the wires are the servers of one list. */
async function openPair(wires: readonly BreakableConnection[]): Promise<readonly [Database, Database]> {
  const [first = "", ...others] = wires.map(urlOf);
  const hosts = [first, ...others].map((url) => new URL(url).host).join(",");
  const connection = { url: new Secret(first.replace(new URL(first).host, hosts)) };
  const options = { connection, poolMax: 1, log, applicationName: "test" };
  const [one, other] = await openDatabases(options, ["one", "other"]);
  if (!one || !other) throw new Error("a database for each schema");
  onTestFinished(async () => {
    await one.close();
    await other.close();
  });
  await one.query("SELECT 1");
  return [one, other];
}

const schemaOf = async (database: Database) =>
  (await database.query("SELECT current_schema() AS name")).rows[0]?.name;

it("leaves a server that hangs while a session changes its schema, and finds the next one", async () => {
  const [hanging, next] = [await openWire(), await openWire()];
  const [one, other] = await openPair([hanging, next]);
  hanging.silence();
  await expect(schemaOf(other)).rejects.toMatchObject({ code: "TIMED_OUT", retry: true });
  hanging.cut();
  expect([await schemaOf(other), await schemaOf(one)]).toEqual(["other", "one"]);
});

it("reports a connection that is lost while a session changes its schema", async () => {
  const wire = await openWire();
  const [one, other] = await openPair([wire]);
  wire.silence();
  const lost = expect(schemaOf(other)).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
  // The only session is in use: its first statement is on the way.
  await expect.poll(() => one.pool.idle).toBe(0);
  wire.cut();
  await lost;
  wire.mend();
  expect([await schemaOf(other), await schemaOf(one)]).toEqual(["other", "one"]);
});

it("prepares a statement once in a session, for the tables of whichever schema it is used for", async () => {
  const pair = await openPair([await openWire()]);
  for (const { schema, query } of pair) {
    await query(`DROP TABLE IF EXISTS names; CREATE TABLE names AS SELECT '${schema}' AS name`);
  }
  const read = async (database: Database) =>
    (
      await openRecordStore(database).run(
        prepareSql("read_name", sql`select name, ${1}::int as one from names`),
      )
    )[0];
  for (let round = 0; round < 8; round += 1) {
    for (const database of pair) expect(await read(database)).toEqual({ name: database.schema, one: 1 });
  }
  const { rows } = await pair[0].query("SELECT name FROM pg_prepared_statements");
  expect(rows).toEqual([{ name: "read_name" }]);
  // A migration while the service runs.
  await pair[0].query("ALTER TABLE names ADD COLUMN more int");
  expect(await read(pair[0])).toEqual({ name: "one", one: 1 });
});
