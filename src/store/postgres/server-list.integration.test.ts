// A real cluster of several servers: the one that accepts writes is found, lost and found again.
// In main, server-list.test.ts fails for the same rules, with relays in place of the cluster.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from "../../../tests/support/database/replicated-postgres.ts";
import type { ReplicatedServer } from "../../../tests/support/database/replicated-server.ts";
import { silentLog as log } from "../../../tests/support/quiet-log.ts";
import { Fault } from "../../lib/fault.ts";
import { Secret } from "../../lib/secret.ts";
import { openPipelinedReader } from "../fast/pipelined-reader.ts";
import { acquireLock } from "./advisory-lock.ts";
import { openDatabase } from "./database.ts";

const PASSWORD = "hunter2-very-secret";

async function open(url: string, poolMax = 3) {
  const connection = { url: new Secret(url) };
  const database = await openDatabase({
    connection,
    schema: "public",
    poolMax,
    log,
    applicationName: "test",
  });
  onTestFinished(() => database.close());
  return database;
}

const failureOf = async (url: string): Promise<Fault> => {
  const failure: unknown = await open(url).catch((error: unknown) => error);
  if (!(failure instanceof Fault)) throw new Error("it did not fail");
  expect(inspect(failure, { depth: 10 })).not.toContain(PASSWORD);
  return failure;
};

function hostsOf(servers: readonly ReplicatedServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
}

describe("several servers", () => {
  let cluster: ReplicatedPostgres;
  let replica: ReplicatedServer;

  beforeAll(async () => {
    cluster = await startReplicatedPostgres({ replicas: [{}] });
    replica = cluster.replicas[0] as ReplicatedServer;
    await cluster.primary.query("CREATE TABLE marks (n integer)");
    await cluster.catchUp();
  });
  afterAll(() => cluster.stop());

  it("connects to the one that accepts writes, wherever it is in the list", async () => {
    for (const servers of [
      [cluster.primary, replica],
      [replica, cluster.primary],
    ]) {
      const database = await open(`postgres://sextant@${hostsOf(servers)}/postgres`);
      await database.query("INSERT INTO marks VALUES (1)");
      const client = await database.connect("lock", { bulkWrites: true });
      expect(client.port).toBe(cluster.primary.port);
      await client.end();
    }
  });

  it("takes a replica only if the URL says that any server will do", async () => {
    const standby = await open(`${replica.url}?target_session_attrs=any`);
    expect((await standby.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    const fault = await failureOf(`${replica.url}?target_session_attrs=read-write`);
    expect(fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(fault.message).toContain("accepts no writes: it is a standby");
  });

  it("names all servers and the reason of each, never the password", async () => {
    const url = `postgres://sextant:${PASSWORD}@127.0.0.1:1,${hostsOf([replica])}/postgres`;
    const fault = await failureOf(url);
    expect(fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(fault.message).toContain(`No PostgreSQL of 127.0.0.1:1, ${hostsOf([replica])} accepts writes.`);
    expect(fault.message).toContain("does not respond at 127.0.0.1:1;");
    expect(fault.message).toContain(`at ${hostsOf([replica])} accepts no writes`);
  });

  it("discards a session of a server that no longer accepts writes", async () => {
    const database = await open(`${replica.url}?target_session_attrs=any`, 1);
    const pid = async () => (await database.query("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    const before = await pid();
    const failure = await database.query("INSERT INTO marks VALUES (2)").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    const after = await pid();
    expect(after).not.toBe(before);
    const write = database.transaction((session) => session.query("INSERT INTO marks VALUES (2)"));
    await expect(write).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(await pid()).not.toBe(after);
  });
});

it("follows a promotion with its pool, its lock and its readers", async () => {
  const cluster = await startReplicatedPostgres({ replicas: [{}], synchronous: true });
  onTestFinished(() => cluster.stop());
  const [replica] = cluster.replicas;
  if (!replica) throw new Error("one replica");
  const database = await open(cluster.url);
  const reader = openPipelinedReader(database);
  onTestFinished(() => reader.close());
  const count = () =>
    reader.read({ name: "marks", text: "SELECT count(*)::int FROM marks", values: [] }, (rows) => rows);
  await database.query("CREATE TABLE marks (n integer)");
  let losses = 0;
  const onLost = () => {
    losses += 1;
  };
  const first = await acquireLock(database, "writer", { waitMs: 0, bulkWrites: true, onLost });
  await first?.transaction((session) => session.query("INSERT INTO marks VALUES (1)"));
  await count();

  await cluster.primary.kill();
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
  await cluster.failOverTo(replica);
  await database.query("INSERT INTO marks VALUES (2)");
  const second = await acquireLock(database, "writer", { waitMs: 10_000, bulkWrites: true });
  await second?.transaction((session) => session.query("INSERT INTO marks VALUES (3)"));
  await second?.release();
  await count();
  expect(losses).toBe(1);
  expect((await database.query("SELECT n FROM marks ORDER BY n")).rows).toEqual([
    { n: 1 },
    { n: 2 },
    { n: 3 },
  ]);
});
