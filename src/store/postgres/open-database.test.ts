// Errors of opening a database: one clear sentence each, and never the password.
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyInitialisedFolder } from "../../../tests/support/database/initialised-folder.ts";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createTestFolder } from "../../../tests/support/test-folder.ts";
import { Fault } from "../../lib/fault.ts";
import { createLog } from "../../lib/log.ts";
import { Secret } from "../../lib/secret.ts";
import type { DatabaseConnection } from "./connection.ts";
import { openDatabase } from "./database.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const PASSWORD = "hunter2-very-secret";
let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

afterAll(() => server.drop());

async function failureOf(connection: DatabaseConnection, schema = "sextant"): Promise<Fault> {
  const failure = await openDatabase({ connection, schema, poolMax: 2, log, applicationName: "test" }).then(
    (database) => database.close(),
    (error) => error,
  );
  expect(failure).toBeInstanceOf(Fault);
  expect(inspect(failure, { depth: 10 })).not.toContain(PASSWORD);
  return failure;
}

const url = (text: string) => ({ url: new Secret(text) });

async function listening(
  onConnection: (close: () => void) => void,
): Promise<{ port: number; server: Server }> {
  const tcp = createServer((socket) => onConnection(() => socket.destroy()));
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const address = tcp.address();
  return { server: tcp, port: typeof address === "object" && address ? address.port : 0 };
}

describe("openDatabase", () => {
  it.each(["mysql://me@host/db", "not a url", `postgres://me:${PASSWORD}@[::bad/db`])(
    "rejects the URL %j and shows the expected form",
    async (text) => {
      const fault = await failureOf(url(text));
      expect(fault.code).toBe("CONFIG_INVALID");
      expect(fault.message).toContain("postgres://user:password@host:5432/database");
    },
  );

  it.each(["Sextant", "", "1st", "a-b", 'a"; DROP SCHEMA public; --', "x".repeat(49), "pg_mine"])(
    "rejects the schema name %j",
    async (schema) => {
      expect((await failureOf(server.connection, schema)).code).toBe("CONFIG_INVALID");
    },
  );

  it("reports a server that does not respond", async () => {
    const { server: tcp, port } = await listening((close) => close());
    await new Promise((resolve) => tcp.close(resolve));
    const fault = await failureOf(url(`postgres://me:${PASSWORD}@127.0.0.1:${port}/mine`));
    expect(fault.code).toBe("DATABASE_UNREACHABLE");
    expect(fault.message).toBe(
      `PostgreSQL does not respond at 127.0.0.1:${port}; start it, or correct DATABASE_URL.`,
    );
    const replica = {
      ...url(`postgres://me:${PASSWORD}@127.0.0.1:${port}/mine`),
      variable: "DATABASE_READ_URL",
    };
    expect((await failureOf(replica)).message).toContain("or correct DATABASE_READ_URL.");
    const socket = await failureOf({ host: "/nonexistent/folder", user: "me", database: "mine" });
    expect(socket.message).toContain("does not respond at /nonexistent/folder");
  });

  it("reports a server that closes the connection", async () => {
    const { server: tcp, port } = await listening((close) => close());
    const fault = await failureOf(url(`postgres://me:${PASSWORD}@127.0.0.1:${port}/mine`));
    expect(fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    await new Promise((resolve) => tcp.close(resolve));
  });

  it("reports an unknown host name", async () => {
    const fault = await failureOf(url(`postgres://me:${PASSWORD}@no-such-host.invalid:5432/mine`));
    expect(fault.code).toBe("DATABASE_UNREACHABLE");
    expect(fault.message).toMatch(/host name in no-such-host.invalid:5432 (is unknown|cannot be resolved)/);
  });

  it("reports a database that does not exist", async () => {
    const connection =
      "url" in server.connection
        ? url(server.connection.url.reveal().replace(server.name, "missing_database"))
        : { ...server.connection, database: "missing_database" };
    const fault = await failureOf(connection);
    expect(fault.code).toBe("DATABASE_UNREACHABLE");
    expect(fault.message).toMatch(/^The database "missing_database" does not exist on .*; create it/);
  });

  it("reports a wrong or missing password, an encoding other than UTF-8, and missing privileges", async () => {
    const folder = await createTestFolder();
    await copyInitialisedFolder(folder);
    const embedded = await startEmbeddedPostgres({ folder, log, durability: "none" });
    try {
      const { host, user } = embedded.connection;
      const admin = new Client({ ...embedded.connection, port: 5432, ssl: false });
      await admin.connect();
      const rules = join(folder, "data", "pg_hba.conf");
      const before = await readFile(rules, "utf8");
      await writeFile(rules, "local all locked scram-sha-256\n");
      await appendFile(rules, before);
      await admin.query(`SET password_encryption TO 'scram-sha-256'`);
      await admin.query(`CREATE ROLE locked LOGIN PASSWORD '${PASSWORD}'`);
      await admin.query(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
      );
      await admin.query("SELECT pg_reload_conf()");
      await admin.end();

      const at = `?host=${encodeURIComponent(host)}`;
      for (const credentials of ["locked:wrong", "locked"]) {
        const fault = await failureOf(url(`postgres://${credentials}@/sextant${at}`));
        expect(fault.code).toBe("DATABASE_UNREACHABLE");
        expect(fault.message).toContain('rejects the user "locked" or its password');
      }
      const latin = await failureOf({ host, user, database: "latin" });
      expect(latin.code).toBe("DATABASE_INCOMPATIBLE");
      expect(latin.message).toContain("LATIN1");

      const unprivileged = await failureOf(url(`postgres://locked:${PASSWORD}@/sextant${at}`));
      expect(unprivileged.code).toBe("DATABASE_INCOMPATIBLE");
      expect(unprivileged.message).toContain('may not create the schema "sextant"');
    } finally {
      await embedded.stop();
    }
  });

  it("creates the schema once when many processes open it at once", async () => {
    const options = {
      connection: server.connection,
      schema: "at_once",
      poolMax: 1,
      log,
      applicationName: "test",
    };
    const databases = await Promise.all(Array.from({ length: 8 }, () => openDatabase(options)));
    for (const database of databases) {
      const { rows } = await database.query("SELECT current_schema() AS schema");
      expect(rows[0]).toEqual({ schema: "at_once" });
      await database.close();
    }
  });
});
