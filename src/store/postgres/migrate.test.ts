// Migrations are applied once, in order, by one process at a time; a database that does not match is rejected.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import { type Database, openDatabase } from "./database.ts";
import { checksumOf, type Migration, migrate } from "./migrate.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "agents", sql: "CREATE TABLE agents (id integer);\nINSERT INTO agents VALUES (1);" },
  { version: 2, name: "owner", sql: "ALTER TABLE agents ADD owner text; SELECT pg_sleep(0.1)" },
  { version: 3, name: "index", sql: "CREATE INDEX ON agents (owner)" },
];
let server: TestDatabase;
const open: Database[] = [];

beforeAll(async () => {
  server = await createTestDatabase();
});

afterAll(async () => {
  await Promise.all(open.map((database) => database.close()));
  await server.drop();
});

async function schema(name: string): Promise<Database> {
  const database = await openDatabase({
    connection: server.connection,
    schema: name,
    poolMax: 2,
    log,
    applicationName: "test",
  });
  open.push(database);
  return database;
}

async function versions(database: Database): Promise<number[]> {
  const { rows } = await database.query<{ version: number }>(
    "SELECT version FROM migrations ORDER BY version",
  );
  return rows.map(({ version }) => version);
}

describe("migrate", () => {
  it("lets readers read while a backup blocks a change of a table", async () => {
    const database = await schema("beside_a_backup");
    await migrate(database, MIGRATIONS.slice(0, 1), log);
    const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'agents'::regclass AND NOT granted`;
    let migrated: Promise<number> = Promise.resolve(0);
    // A dump reads everything in one transaction, which may take hours.
    await database.transaction(async (session) => {
      await session.query("SELECT 1 FROM agents");
      migrated = migrate(database, MIGRATIONS, log);
      while ((await database.query(waiting)).rows.length === 0) await sleep(10);
      expect((await database.query("SELECT id FROM agents")).rows).toHaveLength(1);
    });
    expect(await migrated).toBe(2);
  });

  it("lets writers write while it builds an index concurrently, in place of one that was left unfinished", async () => {
    const database = await schema("beside_writers");
    await migrate(database, MIGRATIONS, log);
    await database.query("CREATE INDEX agents_by_id ON agents (owner)");
    const sql = "CREATE INDEX CONCURRENTLY agents_by_id ON agents (id)";
    const index = { version: 4, name: "by id", concurrentIndex: "agents_by_id", sql };
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE query LIKE '% CONCURRENTLY %' AND wait_event_type = 'Lock'
      AND datname = current_database() AND pid <> pg_backend_pid()`;
    let migrated: Promise<number> = Promise.resolve(0);
    await database.transaction(async (session) => {
      await session.query("INSERT INTO agents VALUES (2)");
      migrated = migrate(database, [...MIGRATIONS, index], log);
      while ((await database.query(waiting)).rows.length === 0) await sleep(10);
      await database.query("INSERT INTO agents VALUES (3)");
    });
    expect(await migrated).toBe(1);
    const { rows } = await database.query(
      "SELECT pg_get_indexdef('agents_by_id'::regclass) LIKE '%(id)' AS found",
    );
    expect(rows).toEqual([{ found: true }]);
    expect(await versions(database)).toEqual([1, 2, 3, 4]);
  });

  it("applies each migration once per schema", async () => {
    const database = await schema("once");
    expect(await migrate(database, MIGRATIONS.slice(0, 1), log)).toBe(1);
    expect(await migrate(database, MIGRATIONS, log)).toBe(2);
    expect(await migrate(database, MIGRATIONS, log)).toBe(0);
    expect(await versions(database)).toEqual([1, 2, 3]);
    expect(await migrate(await schema("sibling"), MIGRATIONS, log)).toBe(3);
  });

  const NEW = { version: 4, name: "new", sql: "SELECT 1", sqlIfNew: "DELETE FROM agents" };

  it("runs what is for new schemas only if no other version has migrated the schema before", async () => {
    const list = [...MIGRATIONS, NEW];
    const [made, upgraded] = [await schema("made"), await schema("upgraded")];
    await migrate(made, list, log);
    await migrate(upgraded, MIGRATIONS, log);
    await migrate(upgraded, list, log);
    const counts = [made, upgraded].map(async (each) => (await each.query("SELECT id FROM agents")).count);
    expect(await Promise.all(counts)).toEqual([0, 1]);
  });

  it("leaves a schema new if the process that makes it dies before the last migration", async () => {
    const database = await schema("cut");
    const sql = "SELECT pg_terminate_backend(pg_backend_pid())";
    const cut = [...MIGRATIONS, { ...NEW, sql }];
    await expect(migrate(database, cut, log)).rejects.toThrow();
    expect(await migrate(database, [...MIGRATIONS, NEW], log)).toBe(4);
    expect((await database.query("SELECT id FROM agents")).count).toBe(0);
  });

  it("builds in a new schema the indexes that it would build concurrently in others", async () => {
    const database = await schema("indexed");
    const sql = "create index concurrently agents_by_id on agents (id)";
    const index = { version: 4, name: "by id", concurrentIndex: "agents_by_id", sql };
    expect(await migrate(database, [...MIGRATIONS, index], log)).toBe(4);
    const found = await database.query(
      "SELECT indisvalid FROM pg_index WHERE indexrelid = 'agents_by_id'::regclass",
    );
    expect(found.rows).toEqual([{ indisvalid: true }]);
  });

  it("applies migrations in exactly one of several processes that start together", async () => {
    const databases = await Promise.all([1, 2, 3, 4].map(() => schema("together")));
    const counts = await Promise.all(databases.map((database) => migrate(database, MIGRATIONS, log)));
    expect(counts.sort()).toEqual([0, 0, 0, 3]);
    const [database] = databases;
    expect(database && (await database.query("SELECT id FROM agents")).count).toBe(1);
  });

  it("rolls back a failing migration and keeps those before it", async () => {
    const database = await schema("failing");
    await migrate(database, MIGRATIONS.slice(0, 1), log);
    const wrong = { version: 2, name: "wrong", sql: "CREATE TABLE half (id integer); SELECT 1 / 0" };
    await expect(migrate(database, [...MIGRATIONS.slice(0, 1), wrong], log)).rejects.toMatchObject({
      code: "22012",
    });
    expect(await versions(database)).toEqual([1]);
    const { rows } = await database.query("SELECT to_regclass('half') AS half");
    expect(rows).toEqual([{ half: null }]);
    expect(await migrate(database, MIGRATIONS, log)).toBe(2);
  });

  it("rejects a database of a newer version", async () => {
    const database = await schema("newer");
    await migrate(database, MIGRATIONS, log);
    await expect(migrate(database, MIGRATIONS.slice(0, 2), log)).rejects.toMatchObject({
      code: "DATABASE_INCOMPATIBLE",
      message: expect.stringContaining("migration 3 (index), which this version of Sextant does not know"),
    });
  });

  it("rejects a database migrated with another text, but not with other line ends", async () => {
    const database = await schema("changed");
    await migrate(database, MIGRATIONS, log);
    const [first, second, third] = MIGRATIONS as [Migration, Migration, Migration];
    const windows = { ...first, sql: first.sql.replaceAll("\n", "\r\n") };
    expect(await migrate(database, [windows, second, third], log)).toBe(0);
    const changed = { ...second, sql: `${second.sql} ` };
    await expect(migrate(database, [first, changed, third], log)).rejects.toMatchObject({
      code: "DATABASE_INCOMPATIBLE",
      message: expect.stringContaining("Migration 2 (owner) is not the one this database was made with"),
    });
  });

  it("accepts reworded comments of a published migration, but not a changed statement", async () => {
    const database = await schema("reworded");
    const sql = "-- Agents.\nCREATE TABLE agents (id integer)";
    const released = { version: 1, name: "agents", sql };
    await migrate(database, [released], log);
    const published = {
      checksum: checksumOf(released),
      statements: checksumOf({ ...released, sql: "CREATE TABLE agents (id integer)" }),
    };
    const reworded = { ...released, sql: sql.replace("Agents", "One row per agent"), published };
    expect(await migrate(database, [reworded], log)).toBe(0);
    expect(await migrate(await schema("reworded_fresh"), [reworded], log)).toBe(1);
    expect(await migrate(await schema("reworded_fresh"), [released], log)).toBe(0);
    const edited = { ...reworded, sql: reworded.sql.replace("integer", "bigint") };
    await expect(migrate(database, [edited], log)).rejects.toMatchObject({ code: "DATABASE_INCOMPATIBLE" });
  });

  it("rejects migrations that are not numbered consecutively from one", async () => {
    const database = await schema("disorder");
    await expect(migrate(database, MIGRATIONS.slice(1), log)).rejects.toThrow("migration 1 has version 2");
  });
});
