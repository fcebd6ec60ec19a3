// A database with several servers: the one that accepts writes is found, lost and found again.
// All are relays to one server, of which some make their sessions read-only. server-list.integration.test.ts has a cluster.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type BreakableConnection,
  openBreakableConnection,
} from "../../../tests/support/database/breakable-connection.ts";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { silentLog as log } from "../../../tests/support/quiet-log.ts";
import { Fault } from "../../lib/fault.ts";
import { Secret } from "../../lib/secret.ts";
import { openPipelinedReader } from "../fast/pipelined-reader.ts";
import { acquireLock } from "./advisory-lock.ts";
import { openDatabase } from "./database.ts";

const PASSWORD = "hunter2-very-secret";

let server: TestDatabase;
let primary: BreakableConnection;
let standby: BreakableConnection;

beforeAll(async () => {
  server = await createTestDatabase();
  primary = await openBreakableConnection(server.connection);
  standby = await openBreakableConnection(server.connection, { isStandby: true });
  const database = await openDatabase({ ...OPTIONS, connection: primary.connection });
  await database.query("CREATE TABLE marks (n integer)");
  await database.close();
});
afterAll(async () => {
  await primary.close();
  await standby.close();
  await server.drop();
});

const OPTIONS = { schema: "public", poolMax: 3, log, applicationName: "test" };

async function open(url: string, poolMax = 3) {
  const connection = { url: new Secret(url) };
  const database = await openDatabase({ ...OPTIONS, connection, poolMax });
  onTestFinished(() => database.close());
  return database;
}

const failureOf = async (url: string): Promise<Fault> => {
  const failure: unknown = await open(url).catch((error: unknown) => error);
  if (!(failure instanceof Fault)) throw new Error("it did not fail");
  expect(inspect(failure, { depth: 10 })).not.toContain(PASSWORD);
  return failure;
};

const urlOf = ({ connection }: BreakableConnection): string =>
  "url" in connection ? connection.url.reveal() : "";
const hostOf = (wire: BreakableConnection): string => new URL(urlOf(wire)).host;

/** One URL that names the servers in this order. */
function listServers(...wires: readonly BreakableConnection[]): string {
  const [first = ""] = wires.map(urlOf);
  return first.replace(new URL(first).host, wires.map(hostOf).join(","));
}

const withRole = (wire: BreakableConnection, role: string): string => {
  const url = new URL(urlOf(wire));
  url.searchParams.set("target_session_attrs", role);
  return url.toString();
};

describe("several servers", () => {
  it("connects to the one that accepts writes, wherever it is in the list", async () => {
    for (const wires of [
      [primary, standby],
      [standby, primary],
    ]) {
      const database = await open(listServers(...wires));
      await database.query("INSERT INTO marks VALUES (1)");
      const client = await database.connect("lock", { bulkWrites: true });
      expect(`${client.host}:${client.port}`).toBe(hostOf(primary));
      await client.end();
    }
  });

  it("takes a replica only if the URL says that any server will do", async () => {
    const database = await open(withRole(standby, "any"));
    expect((await database.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    const fault = await failureOf(withRole(standby, "read-write"));
    expect(fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(fault.message).toContain("accepts no writes: it is a standby");
  });

  it("names all servers and the reason of each, never the password", async () => {
    const url = new URL(urlOf(standby));
    url.password = PASSWORD;
    const fault = await failureOf(url.toString().replace(hostOf(standby), `127.0.0.1:1,${hostOf(standby)}`));
    expect(fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(fault.message).toContain(`No PostgreSQL of 127.0.0.1:1, ${hostOf(standby)} accepts writes.`);
    expect(fault.message).toContain("does not respond at 127.0.0.1:1;");
    expect(fault.message).toContain(`at ${hostOf(standby)} accepts no writes`);
  });

  it.each([
    `postgres://me:${PASSWORD}@one:5432,,two:5432/db`,
    `postgres://me:${PASSWORD}@${Array(9).fill("one:1").join(",")}/db`,
    `postgres://me:${PASSWORD}@one:x,two:5432/db`,
    `postgres://me:${PASSWORD}@one,two/db?target_session_attrs=prefer-standby`,
  ])("rejects the list in %j", async (url) => {
    expect((await failureOf(url)).code).toBe("CONFIG_INVALID");
  });

  it("discards a session of a server that no longer accepts writes", async () => {
    const database = await open(withRole(standby, "any"), 1);
    const pid = async () => (await database.query("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    const before = await pid();
    const failure = await database.query("INSERT INTO marks VALUES (2)").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    const after = await pid();
    expect(after).not.toBe(before);
    // A transaction says that it writes, which only a real standby rejects.
    const write = database.transaction(async (session) => {
      await session.query("SET TRANSACTION READ ONLY");
      await session.query("INSERT INTO marks VALUES (2)");
    });
    await expect(write).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(await pid()).not.toBe(after);
  });

  it("follows a promotion with its pool, its lock and its readers", async () => {
    const first = await openBreakableConnection(server.connection);
    const second = await openBreakableConnection(server.connection, { isStandby: true });
    onTestFinished(async () => {
      await first.close();
      await second.close();
    });
    const database = await open(listServers(first, second));
    await database.query("TRUNCATE marks");
    const reader = openPipelinedReader(database);
    onTestFinished(() => reader.close());
    const count = () =>
      reader.read({ name: "marks", text: "SELECT count(*)::int FROM marks", values: [] }, (rows) => rows);
    let losses = 0;
    const onLost = () => {
      losses += 1;
    };
    const before = await acquireLock(database, "writer", { waitMs: 0, bulkWrites: true, onLost });
    await before?.transaction((session) => session.query("INSERT INTO marks VALUES (1)"));
    await count();

    first.cut();
    // Several at once, while no server accepts writes.
    const failures = await Promise.allSettled(
      [1, 2, 3].map(() => database.query("INSERT INTO marks VALUES (0)")),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({
        status: "rejected",
        reason: { code: "DATABASE_UNREACHABLE", retry: true },
      });
    }
    second.promote();
    await database.query("INSERT INTO marks VALUES (2)");
    const after = await acquireLock(database, "writer", { waitMs: 10_000, bulkWrites: true });
    await after?.transaction((session) => session.query("INSERT INTO marks VALUES (3)"));
    await after?.release();
    await count();
    expect(losses).toBe(1);
    expect((await database.query("SELECT n FROM marks ORDER BY n")).rows).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
    ]);
  });
});
