// The life of an embedded server: started, killed, rejected; its owner in another process is in start.chaos.test.ts.
// Every test of main with a database fails if the server does not start.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { isProcessAlive } from "./processes.ts";
import { startEmbeddedPostgres } from "./start.ts";
import { silentLogger as log } from "./testing/silent-log.ts";
import {
  copyInitialised,
  eventually,
  queryValue,
  startTestServer,
  withClient,
} from "./testing/test-servers.ts";

describe("startEmbeddedPostgres", () => {
  it("keeps data over a restart, and listens on its private socket only", async () => {
    const folder = join(await createTestFolder(), "not", "there", "yet");
    const first = await startEmbeddedPostgres({ folder, log });
    await withClient(first.connection, async (client) => {
      await client.query("CREATE TABLE notes (body text)");
      await client.query("INSERT INTO notes VALUES ('ä'), ('z'), ('Z')");
    });
    const postmasterFile = await readFile(join(folder, "data", "postmaster.pid"), "utf8");
    expect(postmasterFile.split("\n")[5]).toBe("");
    expect((await stat(first.connection.host)).mode & 0o777).toBe(0o700);
    await first.stop();
    expect(isProcessAlive(first.pid)).toBe(false);

    const second = await startTestServer(folder, "full");
    expect(await queryValue(second.connection, "SELECT string_agg(body, ',' ORDER BY body) FROM notes")).toBe(
      "Z,z,ä",
    );
    const settings = ["listen_addresses", "server_encoding", "timezone", "fsync", "synchronous_commit"];
    const values = await Promise.all(settings.map((name) => queryValue(second.connection, `SHOW ${name}`)));
    expect(values).toEqual(["", "UTF8", "UTC", "on", "on"]);
    await connectByUrl(second.url);
    await expect(startEmbeddedPostgres({ folder, log })).rejects.toMatchObject({ code: "DATABASE_IN_USE" });
  });

  it("restarts a killed server, without uncommitted data", async () => {
    const server = await startTestServer(await copyInitialised());
    const { pid } = server;
    await withClient(server.connection, async (client) => {
      await client.query("CREATE TABLE stored (n integer)");
      await client.query("INSERT INTO stored VALUES (1)");
      await client.query("BEGIN");
      const { rows } = await client.query(
        "INSERT INTO stored VALUES (2) RETURNING pg_backend_pid() AS session",
      );
      process.kill(pid, "SIGKILL");
      process.kill(rows[0].session, "SIGKILL");
      await expect(client.query("COMMIT")).rejects.toThrow();
    });
    expect(await eventually(() => server.pid !== pid)).toBe(true);
    expect(await queryValue(server.connection, "SELECT string_agg(n::text, ',') FROM stored")).toBe("1");
  });

  it("rejects data of another major version", async () => {
    const folder = await copyInitialised();
    await writeFile(join(folder, "data", "PG_VERSION"), "13\n");
    await expect(startEmbeddedPostgres({ folder, log })).rejects.toMatchObject({
      code: "DATABASE_INCOMPATIBLE",
      message: expect.stringMatching(/PostgreSQL 13.*PostgreSQL 18/),
    });
  });
});

async function connectByUrl(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.end();
}
