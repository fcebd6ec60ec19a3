// The life of an embedded server: started, killed in every way, taken over, and never left behind.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startNodeChild } from "../../tests/support/process/node-child.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { isProcessAlive, waitForProcessExit } from "./processes.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./start.ts";
import { silentLogger as log } from "./testing/silent-log.ts";

type ChildMessage =
  | { state: "ready"; serverPid: number; connection: EmbeddedPostgres["connection"] }
  | { state: "failed"; code: string | null; cause: string }
  | { state: "stopped" };

const CHILD = new URL("./testing/embedded-postgres-child.ts", import.meta.url);
const isRoot = process.getuid?.() === 0;

// Initialising takes most of the time of a start; most tests copy a folder that was initialised once.
let initialised = "";

beforeAll(async () => {
  initialised = await mkdtemp(join(tmpdir(), "sextant-folder-"));
  await chmod(initialised, 0o711);
  const server = await startEmbeddedPostgres({ folder: initialised, log, durability: "none" });
  await server.stop();
});

afterAll(() => rm(initialised, { recursive: true, force: true }));

async function copyInitialisedFolder(): Promise<string> {
  const folder = await createTestFolder();
  await promisify(execFile)("cp", ["-a", join(initialised, "data"), folder]);
  return folder;
}

async function start(folder: string, durability: "full" | "none" = "none"): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ folder, log, durability });
  onTestFinished(() => server.stop());
  return server;
}

async function withClient<T>(
  connection: EmbeddedPostgres["connection"],
  task: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ ...connection, port: 5432, ssl: false });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await task(client);
  } finally {
    await client.end();
  }
}

async function queryValue(connection: EmbeddedPostgres["connection"], sql: string): Promise<unknown> {
  const { rows } = await withClient(connection, (client) => client.query({ text: sql, rowMode: "array" }));
  return rows[0]?.[0];
}

async function startChild(folder: string, account: { uid?: number; gid?: number } = {}) {
  const child = startNodeChild(CHILD, [folder], account);
  const message = await child.next<ChildMessage>();
  if (message.state !== "ready") throw new Error(JSON.stringify(message));
  return { child, ...message };
}

function findPids(...words: string[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return words.every((word) => command.includes(word));
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function eventually(check: () => boolean | Promise<boolean>, withinMs = 8_000): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(25)) {
    if (await check()) return true;
  }
  return false;
}

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

    const second = await start(folder, "full");
    expect(await queryValue(second.connection, "SELECT string_agg(body, ',' ORDER BY body) FROM notes")).toBe(
      "Z,z,ä",
    );
    const settings = ["listen_addresses", "server_encoding", "timezone", "fsync", "synchronous_commit"];
    const values = await Promise.all(settings.map((name) => queryValue(second.connection, `SHOW ${name}`)));
    expect(values).toEqual(["", "UTF8", "UTC", "on", "on"]);
    await connectByUrl(second.url);
  });

  it("stops when its process is killed, and the next start finds the committed data", async () => {
    const folder = await copyInitialisedFolder();
    const { child, serverPid } = await startChild(folder);
    child.kill("SIGKILL");
    await child.exited;
    expect(await waitForProcessExit(serverPid, 8_000)).toBe(true);
    expect(await eventually(() => findPids(folder).length === 0)).toBe(true);

    const server = await start(folder);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
  });

  it("starts at once after a kill, while the watchdog of the dead process still runs", async () => {
    const folder = await copyInitialisedFolder();
    const { child } = await startChild(folder);
    child.kill("SIGKILL");
    const server = await start(folder);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
    await sleep(1_000);
    expect(isProcessAlive(server.pid)).toBe(true);
  });

  it("takes over a server whose process and watchdog are both dead", async () => {
    const folder = await copyInitialisedFolder();
    const { child, serverPid } = await startChild(folder);
    for (const pid of findPids("sextant-watchdog", folder)) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await child.exited;
    await sleep(300);
    expect(isProcessAlive(serverPid)).toBe(true);

    const server = await start(folder);
    expect(isProcessAlive(serverPid)).toBe(false);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
  });

  it("survives Ctrl-C in the terminal until its process stops it in order", async () => {
    const folder = await copyInitialisedFolder();
    const { child, serverPid } = await startChild(folder);
    process.kill(-child.pid, "SIGINT");
    expect(await child.next()).toEqual({ state: "interrupted", rows: 1 });
    expect(isProcessAlive(serverPid)).toBe(true);
    child.send("stop");
    expect(await child.next<ChildMessage>()).toEqual({ state: "stopped" });
    expect(isProcessAlive(serverPid)).toBe(false);
    expect(await readFile(join(folder, "server.log"), "utf8")).toContain("database system is shut down");
    expect(await eventually(() => findPids(folder).length === 0)).toBe(true);
  });

  it("restarts a killed server, without uncommitted data", async () => {
    const server = await start(await copyInitialisedFolder());
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

  it("keeps its owner when a session crashes and all connections are lost", async () => {
    const folder = await copyInitialisedFolder();
    const server = await start(folder);
    await withClient(server.connection, async (client) => {
      const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
      process.kill(rows[0].pid, "SIGKILL");
      await expect(client.query("SELECT 1")).rejects.toThrow();
    });
    expect(
      await eventually(() => queryValue(server.connection, "SELECT true").then(Boolean, () => false)),
    ).toBe(true);
    await sleep(300);
    await expect(startEmbeddedPostgres({ folder, log })).rejects.toMatchObject({ code: "DATABASE_IN_USE" });
    expect(isProcessAlive(server.pid)).toBe(true);
  });

  it("rejects a second process on the same folder, naming the first and leaving it undisturbed", async () => {
    const folder = await copyInitialisedFolder();
    const { child, connection } = await startChild(folder);
    const rejection = startEmbeddedPostgres({ folder, log });
    await expect(rejection).rejects.toMatchObject({ code: "DATABASE_IN_USE" });
    await expect(rejection).rejects.toThrow(
      `is in use by process ${child.pid}; give this one another --data folder`,
    );
    expect(await queryValue(connection, "SELECT count(*)::int FROM stored")).toBe(1);
  });

  it("has exactly one owner when three processes start on a new folder at once", async () => {
    const folder = await createTestFolder();
    const children = [1, 2, 3].map(() => startNodeChild(CHILD, [folder]));
    const messages = await Promise.all(children.map((child) => child.next<ChildMessage>()));
    expect(messages.map(({ state }) => state).sort()).toEqual(["failed", "failed", "ready"]);
    for (const message of messages) {
      if (message.state === "failed") expect(message.code).toBe("DATABASE_IN_USE");
      if (message.state === "ready")
        expect(await queryValue(message.connection, "SELECT count(*)::int FROM stored")).toBe(1);
    }
  });

  it.runIf(isRoot)("runs as an ordinary user, and rejects other users", async () => {
    const folder = await createTestFolder();
    await chmod(folder, 0o777);
    const { connection, serverPid } = await startChild(join(folder, "theirs"), { uid: 65_534, gid: 65_534 });
    expect((await stat(`/proc/${serverPid}`)).uid).toBe(65_534);
    expect((await stat(join(folder, "theirs"))).mode & 0o777).toBe(0o700);
    const otherUser = startNodeChild(CHILD, [join(folder, "theirs")], { uid: 1, gid: 1 });
    expect(await otherUser.next<ChildMessage>()).toMatchObject({
      state: "failed",
      code: "DATABASE_START_FAILED",
    });
    expect(await queryValue(connection, "SELECT count(*)::int FROM stored")).toBe(1);
  });

  it("creates its socket elsewhere when the folder's path is too long, and removes it", async () => {
    const folder = join(await createTestFolder(), "a-rather-long-name".repeat(6), "ö".repeat(40));
    const server = await startEmbeddedPostgres({ folder, log, durability: "none" });
    expect(server.connection.host.startsWith(folder)).toBe(false);
    expect((await stat(server.connection.host)).mode & 0o777).toBe(0o700);
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
    await server.stop();
    await expect(stat(server.connection.host)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("moves an incomplete data folder aside and removes leftovers of a crashed start", async () => {
    const folder = await createTestFolder();
    await mkdir(join(folder, "data"));
    await writeFile(join(folder, "data", "PG_VERSION"), "18\n");
    await mkdir(join(folder, "data.new-999999999-0a", "base"), { recursive: true });
    const server = await start(folder);
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
    const names = await readdir(folder);
    expect(names.filter((name) => name.startsWith("data.broken-"))).toHaveLength(1);
    expect(names.filter((name) => name.startsWith("data.new-"))).toEqual([]);
  });

  it("ignores a pid in postmaster.pid that now belongs to another program", async () => {
    const folder = await copyInitialisedFolder();
    const first = await startEmbeddedPostgres({ folder, log, durability: "none" });
    const pidFile = join(folder, "data", "postmaster.pid");
    const lines = (await readFile(pidFile, "utf8")).split("\n");
    await first.stop();
    await writeFile(pidFile, [String(process.ppid), ...lines.slice(1)].join("\n"), { mode: 0o644 });
    const server = await start(folder);
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
    expect(isProcessAlive(process.ppid)).toBe(true);
  });

  it("rejects data of another major version", async () => {
    const folder = await copyInitialisedFolder();
    const first = await startEmbeddedPostgres({ folder, log, durability: "none" });
    await first.stop();
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
