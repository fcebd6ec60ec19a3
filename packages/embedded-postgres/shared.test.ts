// One embedded server for several processes: the second one joins, and takes over when the first one exits.
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { startNodeChild } from "../../tests/support/process/node-child.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { openSharedPostgres, type SharedPostgres } from "./shared.ts";
import { silentLogger as log } from "./testing/silent-log.ts";

const CHILD = new URL("./testing/embedded-postgres-child.ts", import.meta.url);

async function open(folder: string): Promise<SharedPostgres> {
  const server = await openSharedPostgres({ folder, log, durability: "none" });
  onTestFinished(() => server.stop());
  return server;
}

async function run(connection: SharedPostgres["connection"], sql: string): Promise<unknown> {
  const client = new Client({ ...connection, port: 5432, ssl: false });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

async function eventually<T>(read: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + 30_000; ; await sleep(50)) {
    try {
      return await read();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

describe("openSharedPostgres", { timeout: 90_000 }, () => {
  it("joins a running server, leaves it running, and takes over when its owner stops", async () => {
    const folder = await createTestFolder();
    const first = await open(folder);
    await run(first.connection, "create table notes (body text)");
    const second = await open(folder);
    expect(second.connection).toEqual(first.connection);
    await run(second.connection, "insert into notes values ('from the second')");

    const third = await open(folder);
    await third.stop();
    expect(await run(first.connection, "select body from notes")).toBe("from the second");

    await first.stop();
    expect(await eventually(() => run(second.connection, "select body from notes"))).toBe("from the second");
    await second.stop();
    await expect(run(second.connection, "select 1")).rejects.toThrow();
  });

  it("takes over in exactly one of the joined processes when the owner is killed", async () => {
    const folder = await createTestFolder();
    const child = startNodeChild(CHILD, [folder]);
    await child.next();
    const others = await Promise.all([open(folder), open(folder)]);
    await run(others[0].connection, "create table notes (body text)");
    await run(others[0].connection, "insert into notes values ('stored')");
    child.kill("SIGKILL");
    await child.exited;
    for (const { connection } of others) {
      expect(await eventually(() => run(connection, "select body from notes"))).toBe("stored");
    }
    // Both use the same server: what one writes the other reads.
    await eventually(() => run(others[0].connection, "update notes set body = 'seen'"));
    expect(await eventually(() => run(others[1].connection, "select body from notes"))).toBe("seen");
  });
});
