// One holder at a time, even if processes are killed, frozen or disconnected; never two writers that both commit.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { startNodeChild } from "../../../tests/support/process/node-child.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Fault } from "../../lib/fault.ts";
import { createLog } from "../../lib/log.ts";
import { acquireLock, type Lock } from "./advisory-lock.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const CHILD = new URL("../../../tests/support/database/lock-child.ts", import.meta.url);
let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  database = await openDatabase({
    connection: server.connection,
    schema: "sextant",
    poolMax: 4,
    log,
    applicationName: "test",
  });
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

beforeEach(async () => {
  await database.query("DROP TABLE IF EXISTS written; CREATE TABLE written (who text)");
});

async function mustAcquire(key: string, onLost?: (fault: Fault) => void): Promise<Lock> {
  const lock = await acquireLock(database, key, { waitMs: 5_000, ...(onLost ? { onLost } : {}) });
  if (!lock) throw new Error("not acquired");
  return lock;
}

/** Terminates the connections that hold locks, as a network failure or an operator would. */
async function disconnectHolders(applicationName: string): Promise<void> {
  await database.query({
    text: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = $2",
    values: [applicationName, server.name],
  });
}

async function isCopying(): Promise<boolean> {
  const { rows } =
    await database.query(`SELECT 1 FROM pg_stat_progress_copy p JOIN pg_stat_activity a USING (pid)
    WHERE a.application_name = 'lock child lock' AND p.bytes_processed > 0 AND a.datname = current_database()`);
  return rows.length > 0;
}

async function readWriters(): Promise<string[]> {
  const { rows } = await database.query<{ who: string }>("SELECT who FROM written ORDER BY who");
  return rows.map(({ who }) => who);
}

function startHolder({ heartbeatMs = 5_000, takeOver = false } = {}) {
  const { connection } = server;
  const target = "url" in connection ? { url: connection.url.reveal() } : connection;
  return startNodeChild(CHILD, [JSON.stringify(target), String(heartbeatMs), takeOver ? "take over" : ""]);
}

describe("acquireLock", () => {
  it("has one holder at a time, and is free again once released", async () => {
    const first = await mustAcquire("a");
    expect(first.isHeld).toBe(true);
    expect(await acquireLock(database, "a", { waitMs: 0 })).toBeNull();
    const other = await mustAcquire("b");
    await first.release();
    expect(first.isHeld).toBe(false);
    const second = await mustAcquire("a");
    await Promise.all([second.release(), other.release()]);
    await second.release();
  });

  it("passes to a waiting process when the holder is killed", async () => {
    const child = startHolder();
    expect(await child.next()).toEqual({ state: "held" });
    const waiting = acquireLock(database, "writer", { waitMs: Number.POSITIVE_INFINITY });
    await sleep(100);
    child.kill("SIGKILL");
    const lock = await waiting;
    expect(lock?.isHeld).toBe(true);
    await lock?.release();
  });

  it("passes to a waiting process when the holder freezes, and only then", { timeout: 60_000 }, async () => {
    // Six heartbeats may be missed.
    const child = startHolder({ heartbeatMs: 600 });
    expect(await child.next()).toEqual({ state: "held" });
    expect(await acquireLock(database, "writer", { waitMs: 4_500 })).toBeNull();
    child.kill("SIGSTOP");
    const lock = await acquireLock(database, "writer", { waitMs: 30_000 });
    expect(lock?.isHeld).toBe(true);
    await lock?.transaction((session) => session.query("INSERT INTO written VALUES ('second')"));
    child.kill("SIGCONT");
    expect(await child.next()).toMatchObject({ state: "lost" });
    child.send("write");
    expect(await child.next()).toMatchObject({ state: "rejected" });
    expect(await readWriters()).toEqual(["second"]);
    await lock?.release();
  });

  it("is taken over from a holder that froze inside COPY", { timeout: 60_000 }, async () => {
    await migrate(database, migrations, log);
    const child = startHolder({ heartbeatMs: 500, takeOver: true });
    expect(await child.next()).toEqual({ state: "held" });
    child.send("copy");
    while (!(await isCopying())) await sleep(1);
    child.kill("SIGSTOP");
    // Longer than every timeout of the session: without a standby that terminates it, it would keep the lock.
    expect(await acquireLock(database, "writer", { waitMs: 4_000 })).toBeNull();
    expect(await isCopying()).toBe(true);
    const taken: number[] = [];
    const lock = await acquireLock(database, "writer", {
      waitMs: 30_000,
      heartbeatMs: 500,
      takeOver: true,
      onTakeOver: (pid) => taken.push(pid),
    });
    expect(lock?.isHeld).toBe(true);
    expect(taken).toHaveLength(1);
    await lock?.transaction((session) => session.query("INSERT INTO written VALUES ('second')"));
    child.kill("SIGCONT");
    const messages = [await child.next<{ state: string }>(), await child.next<{ state: string }>()];
    expect(messages.map(({ state }) => state).sort()).toEqual(["lost", "rejected"]);
    expect(await readWriters()).toEqual(["second"]);
    await lock?.release();
  });

  it("stays with a holder that runs a long statement", { timeout: 60_000 }, async () => {
    await migrate(database, migrations, log);
    const holder = await acquireLock(database, "busy", { waitMs: 0, heartbeatMs: 200, takeOver: true });
    const busy = holder?.transaction((session) => session.query("SELECT pg_sleep(4)"));
    const second = await acquireLock(database, "busy", { waitMs: 3_500, heartbeatMs: 200, takeOver: true });
    expect(second).toBeNull();
    await busy;
    expect(holder?.isHeld).toBe(true);
    await holder?.release();
  });

  it("stops waiting when aborted", async () => {
    const holder = await mustAcquire("aborted");
    const stop = new AbortController();
    const waiting = acquireLock(database, "aborted", {
      waitMs: Number.POSITIVE_INFINITY,
      signal: stop.signal,
    });
    await sleep(50);
    stop.abort(new Error("shutting down"));
    await expect(waiting).rejects.toThrow("shutting down");
    await holder.release();
  });

  it("keeps waiting when its connection is lost", async () => {
    const holder = await mustAcquire("waiting");
    const waiting = acquireLock(database, "waiting", { waitMs: Number.POSITIVE_INFINITY });
    await sleep(50);
    await holder.release();
    await disconnectHolders("test lock");
    const lock = await waiting;
    expect(lock?.isHeld).toBe(true);
    await lock?.release();
  });

  it("notifies its holder once when it is lost, and rejects further writes", async () => {
    const lost: Fault[] = [];
    const lock = await mustAcquire("notified", (fault) => lost.push(fault));
    await disconnectHolders("test lock");
    while (lock.isHeld) await sleep(10);
    await sleep(50);
    expect(lost.map(({ code }) => code)).toEqual(["DATABASE_LOCK_LOST"]);
    const late = lock.transaction((session) => session.query("INSERT INTO written VALUES ('late')"));
    await expect(late).rejects.toMatchObject({ code: "DATABASE_LOCK_LOST", retry: true });
    await lock.release();
    expect(await readWriters()).toEqual([]);
  });

  it("survives an error of the work", async () => {
    const lock = await mustAcquire("survives");
    await expect(lock.transaction((session) => session.query("SELECT 1 / 0"))).rejects.toMatchObject({
      code: "22012",
    });
    const upstream = Object.assign(new Error("node"), { code: "ECONNRESET" });
    await expect(lock.transaction(() => Promise.reject(upstream))).rejects.toBe(upstream);
    await lock.transaction((session) => session.query("INSERT INTO written VALUES ('still here')"));
    expect(await readWriters()).toEqual(["still here"]);
    await lock.release();
  });
});

describe("Lock.commit", () => {
  const limits = { statementTimeoutMs: 5_000 };
  const step = (name: string) => ({ text: "INSERT INTO written VALUES ($1)", values: [name] });

  it.each([false, true])(
    "commits all steps or none, and keeps the lock (bulk writes: %s)",
    async (bulkWrites) => {
      const lock = await acquireLock(database, "steps", { waitMs: 5_000, bulkWrites });
      if (!lock) throw new Error("the lock is not free");
      await lock.commit([step("one"), step("two")], limits);
      expect(await readWriters()).toEqual(["one", "two"]);
      await expect(
        lock.commit([step("three"), { text: "SELECT 1 / 0" }, step("four")], limits),
      ).rejects.toMatchObject({ code: "22012" });
      expect(await readWriters()).toEqual(["one", "two"]);
      await lock.commit([step("five")], limits);
      expect(await readWriters()).toEqual(["five", "one", "two"]);
      await lock.release();
      await database.query("TRUNCATE written");
    },
  );

  it("writes nothing after the lock is lost, and no part of a batch when it is lost meanwhile", async () => {
    const lock = await acquireLock(database, "lost", { waitMs: 5_000, bulkWrites: true });
    if (!lock) throw new Error("the lock is not free");
    const interrupted = lock.commit([step("before"), { text: "SELECT pg_sleep(5)" }, step("after")], limits);
    const rejected = expect(interrupted).rejects.toMatchObject({ retry: true });
    await sleep(100);
    await disconnectHolders("test lock");
    await rejected;
    await expect(lock.commit([step("late")], limits)).rejects.toMatchObject({ code: "DATABASE_LOCK_LOST" });
    expect(await readWriters()).toEqual([]);
    await lock.release();
  });

  it("times out when one step takes too long", async () => {
    const lock = await mustAcquire("slow");
    const slow = lock.commit([step("before"), { text: "SELECT pg_sleep(5)" }], { statementTimeoutMs: 50 });
    await expect(slow).rejects.toMatchObject({ code: "TIMED_OUT" });
    expect(await readWriters()).toEqual([]);
    await lock.release();
  });
});

describe("two writers", () => {
  it("never both commit, even if the first believes it still holds the lock", async () => {
    const first = await mustAcquire("fenced");
    let second: Lock | null = null;
    const stale = first.transaction(async (session) => {
      await session.query("INSERT INTO written VALUES ('first')");
      await disconnectHolders("test lock");
      second = await mustAcquire("fenced");
      await second.transaction((own) => own.query("INSERT INTO written VALUES ('second')"));
    });
    await expect(stale).rejects.toMatchObject({ retry: true });
    expect(await readWriters()).toEqual(["second"]);
    expect(first.isHeld).toBe(false);
    await (second as Lock | null)?.release();
  });

  it("never both commit, even if the first was frozen while it lost the lock", async () => {
    const child = startHolder();
    expect(await child.next()).toEqual({ state: "held" });
    child.kill("SIGSTOP");
    expect(await acquireLock(database, "writer", { waitMs: 300 })).toBeNull();
    await disconnectHolders("lock child lock");
    const lock = await mustAcquire("writer");
    await lock.transaction((session) => session.query("INSERT INTO written VALUES ('second')"));
    child.send("write");
    child.kill("SIGCONT");
    const messages = [await child.next<{ state: string }>(), await child.next<{ state: string }>()];
    expect(messages.map(({ state }) => state).sort()).toEqual(["lost", "rejected"]);
    expect(await readWriters()).toEqual(["second"]);
    await lock.release();
  });

  it("never overlap while connections are lost at random", async () => {
    await database.query(
      "DROP TABLE IF EXISTS counter; CREATE TABLE counter (n integer); INSERT INTO counter VALUES (0)",
    );
    const until = Date.now() + 2_000;
    // Polls a hundred times as often as a standby, so that the lock changes hands all the time.
    const eager = { ...systemClock, sleep: (ms: number) => sleep(Math.min(ms, 5)) };
    const write = async (who: string) => {
      while (Date.now() < until) {
        const lock = await acquireLock(database, "counted", { waitMs: 5_000, clock: eager });
        // Read, think, write back: an overlap of two writers would lose an update.
        for (let turn = 0; lock?.isHeld && turn < 20 && Date.now() < until; turn += 1) {
          const increment = lock.transaction(async (session) => {
            const { rows } = await session.query<{ n: number }>("SELECT n FROM counter");
            await session.query({ text: "INSERT INTO written VALUES ($1)", values: [who] });
            await session.query({ text: "UPDATE counter SET n = $1", values: [(rows[0]?.n ?? 0) + 1] });
          });
          // A lost connection fails it, as intended; the sums below show whether anything else went wrong.
          await increment.catch(() => undefined);
        }
        await lock?.release().catch(() => undefined);
        await sleep(Math.random() * 20);
      }
    };
    const disconnect = async () => {
      while (Date.now() < until) {
        await sleep(20 + Math.random() * 60);
        await disconnectHolders("test lock");
      }
    };
    await Promise.all([write("a"), write("b"), disconnect()]);
    const { rows } = await database.query<{ n: number; rows: number; writers: number }>(
      `SELECT n, (SELECT count(*)::int FROM written) AS rows, (SELECT count(DISTINCT who)::int FROM written) AS writers
       FROM counter`,
    );
    expect(rows[0]?.n).toBe(rows[0]?.rows);
    expect(rows[0]?.n).toBeGreaterThan(10);
    expect(rows[0]?.writers).toBe(2);
  });
});
