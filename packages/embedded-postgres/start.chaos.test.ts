// Owners, watchdogs and sessions that are killed or start at the same moment.
// Fast tests of the same rules are in start.test.ts: a killed owner, a killed server, a second process on the folder.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { isProcessAlive } from "./processes.ts";
import { startEmbeddedPostgres } from "./start.ts";
import { silentLogger as log } from "./testing/silent-log.ts";
import {
  type ChildMessage,
  eventually,
  findPids,
  queryValue,
  startReadyChild,
  startServerChild,
  startTestServer,
  useInitialisedFolder,
  withClient,
} from "./testing/test-servers.ts";

const copyInitialisedFolder = useInitialisedFolder();

describe("startEmbeddedPostgres", () => {
  it("starts at once after a kill, while the watchdog of the dead process still runs", async () => {
    const folder = await copyInitialisedFolder();
    const { child } = await startReadyChild(folder);
    child.kill("SIGKILL");
    const server = await startTestServer(folder);
    expect(await queryValue(server.connection, "SELECT writer FROM stored")).toBe(child.pid);
    await sleep(1_000);
    expect(isProcessAlive(server.pid)).toBe(true);
  });

  it("takes over a server whose process and watchdog are both dead", async () => {
    const folder = await copyInitialisedFolder();
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
    const folder = await copyInitialisedFolder();
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
    const folder = await copyInitialisedFolder();
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
