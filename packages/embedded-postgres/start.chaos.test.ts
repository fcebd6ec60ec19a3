// Owners in other processes, watchdogs and sessions that are killed, rejected or start at the same moment; odd folders.
// Fast tests of the same rules: a killed server and a second start on the folder in start.integration.test.ts, an owner that stops in
// shared.integration.test.ts, another account in binaries.test.ts.
import { readFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { isProcessAlive, waitForProcessExit } from "./processes.ts";
import { startEmbeddedPostgres } from "./start.ts";
import { silentLogger as log } from "./testing/silent-log.ts";
import {
  type ChildMessage,
  copyInitialised,
  eventually,
  findPids,
  queryValue,
  startReadyChild,
  startServerChild,
  startTestServer,
  withClient,
} from "./testing/test-servers.ts";

const isRoot = process.getuid?.() === 0;
describe("startEmbeddedPostgres", () => {
  it("creates its socket elsewhere when the folder's path is too long, and removes it", async () => {
    const long = join(await createTestFolder(), "a-rather-long-name".repeat(6), "ö".repeat(40));
    const folder = await copyInitialised(long);
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
    const server = await startTestServer(folder);
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
    const names = await readdir(folder);
    expect(names.filter((name) => name.startsWith("data.broken-"))).toHaveLength(1);
    expect(names.filter((name) => name.startsWith("data.new-"))).toEqual([]);
  });

  it("ignores a pid in postmaster.pid that now belongs to another program", async () => {
    const folder = await copyInitialised();
    const first = await startEmbeddedPostgres({ folder, log, durability: "none" });
    const pidFile = join(folder, "data", "postmaster.pid");
    const lines = (await readFile(pidFile, "utf8")).split("\n");
    await first.stop();
    await writeFile(pidFile, [String(process.ppid), ...lines.slice(1)].join("\n"), { mode: 0o644 });
    const server = await startTestServer(folder);
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
    expect(isProcessAlive(process.ppid)).toBe(true);
  });

  it("starts once another server, which has created its lock file and not yet written it, is gone", async () => {
    const folder = await copyInitialised();
    const pidFile = join(folder, "data", "postmaster.pid");
    await writeFile(pidFile, "", { mode: 0o644 });
    const starting = startTestServer(folder);
    const readLog = () => readFileSync(join(folder, "server.log"), { encoding: "utf8", flag: "a+" });
    expect(await eventually(() => readLog().includes("is empty"))).toBe(true);
    await rm(pidFile);
    const server = await starting;
    expect(await queryValue(server.connection, "SELECT 1")).toBe(1);
  });

  it("stops when its process is killed, and the next start finds the committed data", async () => {
    const folder = await copyInitialised();
    const { child, serverPid } = await startReadyChild(folder);
    child.kill("SIGKILL");
    await child.exited;
    expect(await waitForProcessExit(serverPid, 8_000)).toBe(true);
    expect(await eventually(() => findPids(folder).length === 0)).toBe(true);

    const server = await startTestServer(folder);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
  });

  it("rejects a second process on the same folder, naming the first and leaving it undisturbed", async () => {
    const folder = await copyInitialised();
    const { child, connection } = await startReadyChild(folder);
    const rejection = startEmbeddedPostgres({ folder, log });
    await expect(rejection).rejects.toMatchObject({ code: "DATABASE_IN_USE" });
    await expect(rejection).rejects.toThrow(
      `is in use by process ${child.pid}; give this one another --data folder`,
    );
    expect(await queryValue(connection, "SELECT count(*)::int FROM stored")).toBe(1);
  });

  it.runIf(isRoot)("runs as an ordinary user, and rejects other users", async () => {
    const folder = await createTestFolder();
    await chmod(folder, 0o777);
    const { connection, serverPid } = await startReadyChild(join(folder, "theirs"), {
      uid: 65_534,
      gid: 65_534,
    });
    expect((await stat(`/proc/${serverPid}`)).uid).toBe(65_534);
    expect((await stat(join(folder, "theirs"))).mode & 0o777).toBe(0o700);
    const otherUser = startServerChild(join(folder, "theirs"), { uid: 1, gid: 1 });
    expect(await otherUser.next<ChildMessage>()).toMatchObject({
      state: "failed",
      code: "DATABASE_START_FAILED",
    });
    expect(await queryValue(connection, "SELECT count(*)::int FROM stored")).toBe(1);
  });

  it("starts at once after a kill, while the watchdog of the dead process still runs", async () => {
    const folder = await copyInitialised();
    const { child } = await startReadyChild(folder);
    child.kill("SIGKILL");
    const server = await startTestServer(folder);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
    await sleep(1_000);
    expect(isProcessAlive(server.pid)).toBe(true);
  });

  it("takes over a server whose process and watchdog are both dead", async () => {
    const folder = await copyInitialised();
    const { child, serverPid } = await startReadyChild(folder);
    for (const pid of findPids("sextant-watchdog", folder)) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await child.exited;
    await sleep(300);
    expect(isProcessAlive(serverPid)).toBe(true);

    const server = await startTestServer(folder);
    expect(isProcessAlive(serverPid)).toBe(false);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
  });

  it("survives Ctrl-C in the terminal until its process stops it in order", async () => {
    const folder = await copyInitialised();
    const { child, serverPid } = await startReadyChild(folder);
    process.kill(-child.pid, "SIGINT");
    expect(await child.next()).toEqual({ state: "interrupted", rows: 1 });
    expect(isProcessAlive(serverPid)).toBe(true);
    child.send("stop");
    expect(await child.next<ChildMessage>()).toEqual({ state: "stopped" });
    expect(isProcessAlive(serverPid)).toBe(false);
    expect(await readFile(join(folder, "server.log"), "utf8")).toContain("database system is shut down");
    expect(await eventually(() => findPids(folder).length === 0)).toBe(true);
  });

  it("keeps its owner when a session crashes and all connections are lost", async () => {
    const folder = await copyInitialised();
    const server = await startTestServer(folder);
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

  it("has exactly one owner when three processes start on a new folder at once", async () => {
    const folder = await createTestFolder();
    const children = [1, 2, 3].map(() => startServerChild(folder));
    const messages = await Promise.all(children.map((child) => child.next<ChildMessage>()));
    expect(messages.map(({ state }) => state).sort()).toEqual(["failed", "failed", "ready"]);
    for (const message of messages) {
      if (message.state === "failed") expect(message.code).toBe("DATABASE_IN_USE");
      if (message.state === "ready")
        expect(await queryValue(message.connection, "SELECT count(*)::int FROM stored")).toBe(1);
    }
  });
});
