// One holder at a time, even if processes are frozen or disconnected; never two writers that both commit.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LockDatabase } from "../../../tests/support/database/lock-database.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Fault } from "../../lib/fault.ts";
import { acquireLock, type Lock } from "./advisory-lock.ts";
import type { Database } from "./database.ts";
import type { Session } from "./session.ts";

// Polls a hundred times as often as a standby.
const eager = { ...systemClock, sleep: (ms: number) => sleep(Math.min(ms, 5)) };

let locks: LockDatabase;
let database: Database;

beforeAll(async () => {
  locks = await LockDatabase.open();
  database = locks.database;
});
afterAll(() => locks.close());
beforeEach(() => locks.createWritten());

async function mustAcquire(key: string, onLost?: (fault: Fault) => void): Promise<Lock> {
  const lock = await acquireLock(database, key, { waitMs: 5_000, ...(onLost ? { onLost } : {}) });
  if (!lock) throw new Error("not acquired");
  return lock;
}

async function readPid(session: Session): Promise<number> {
  const { rows } = await session.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

describe("acquireLock", () => {
  it("gives a lock to one holder at a time, and to the next once released", async () => {
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

  it("passes the lock to a waiting process when the holder freezes", async () => {
    const child = locks.startHolder({ heartbeatMs: 100 });
    expect(await child.next()).toEqual({ state: "held" });
    child.kill("SIGSTOP");
    const lock = await acquireLock(database, "writer", { waitMs: 30_000, clock: eager });
    expect(lock?.isHeld).toBe(true);
    await lock?.transaction((session) => session.query("INSERT INTO written VALUES ('second')"));
    child.send("write");
    child.kill("SIGCONT");
    const messages = [await child.next<{ state: string }>(), await child.next<{ state: string }>()];
    expect(messages.map(({ state }) => state).sort()).toEqual(["lost", "rejected"]);
    expect(await locks.readWriters()).toEqual(["second"]);
    await lock?.release();
  });

  it("takes the lock over from a holder that no longer renews its record, and only then", async () => {
    const lost: Fault[] = [];
    const takenFrom: number[] = [];
    const options = { takeOver: true, onTakeOver: (pid: number) => takenFrom.push(pid) };
    const first = await acquireLock(database, "silent", {
      ...options,
      waitMs: 0,
      onLost: (fault) => lost.push(fault),
    });
    expect(await acquireLock(database, "silent", { ...options, waitMs: 0 })).toBeNull();
    await database.query("UPDATE lock_holders SET alive_until = now() - interval '1 s' WHERE key = 'silent'");
    const second = await acquireLock(database, "silent", { ...options, waitMs: 5_000, clock: eager });
    expect(second?.isHeld).toBe(true);
    expect(takenFrom).toHaveLength(1);
    while (first?.isHeld) await sleep(10);
    expect(lost.map(({ code }) => code)).toEqual(["DATABASE_LOCK_LOST"]);
    await second?.release();
  });

  it("renews the record of the lock while a transaction runs", async () => {
    const readAliveUntil = async () => {
      const { rows } = await database.query<{ at: string }>(
        "SELECT extract(epoch FROM alive_until)::text AS at FROM lock_holders WHERE key = 'busy'",
      );
      return Number(rows[0]?.at);
    };
    const holder = await acquireLock(database, "busy", { waitMs: 0, heartbeatMs: 200, takeOver: true });
    await holder?.transaction(async (session) => {
      await session.query("SELECT 1");
      for (let renewals = 0; renewals < 2; renewals += 1) {
        const before = await readAliveUntil();
        await expect.poll(readAliveUntil, { timeout: 10_000, interval: 20 }).toBeGreaterThan(before);
      }
    });
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
    const pid = await holder.transaction(readPid);
    const waiting = acquireLock(database, "waiting", { waitMs: Number.POSITIVE_INFINITY });
    await expect.poll(() => locks.disconnect("test lock", { newerThanPid: pid })).toBe(1);
    await holder.release();
    const lock = await waiting;
    expect(lock?.isHeld).toBe(true);
    await lock?.release();
  });

  it("notifies its holder once when it is lost, and rejects further writes", async () => {
    const lost: Fault[] = [];
    const lock = await mustAcquire("notified", (fault) => lost.push(fault));
    await locks.disconnect("test lock");
    while (lock.isHeld) await sleep(10);
    await sleep(50);
    expect(lost.map(({ code }) => code)).toEqual(["DATABASE_LOCK_LOST"]);
    const late = lock.transaction((session) => session.query("INSERT INTO written VALUES ('late')"));
    await expect(late).rejects.toMatchObject({ code: "DATABASE_LOCK_LOST", retry: true });
    await lock.release();
    expect(await locks.readWriters()).toEqual([]);
  });

  it("survives an error of the work", async () => {
    const lock = await mustAcquire("survives");
    await expect(lock.transaction((session) => session.query("SELECT 1 / 0"))).rejects.toMatchObject({
      code: "22012",
    });
    const upstream = Object.assign(new Error("node"), { code: "ECONNRESET" });
    await expect(lock.transaction(() => Promise.reject(upstream))).rejects.toBe(upstream);
    await lock.transaction((session) => session.query("INSERT INTO written VALUES ('still here')"));
    expect(await locks.readWriters()).toEqual(["still here"]);
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
      expect(await locks.readWriters()).toEqual(["one", "two"]);
      await expect(
        lock.commit([step("three"), { text: "SELECT 1 / 0" }, step("four")], limits),
      ).rejects.toMatchObject({ code: "22012" });
      expect(await locks.readWriters()).toEqual(["one", "two"]);
      await lock.commit([step("five")], limits);
      expect(await locks.readWriters()).toEqual(["five", "one", "two"]);
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
    await locks.disconnect("test lock");
    await rejected;
    await expect(lock.commit([step("late")], limits)).rejects.toMatchObject({ code: "DATABASE_LOCK_LOST" });
    expect(await locks.readWriters()).toEqual([]);
    await lock.release();
  });

  it("times out when one step takes too long", async () => {
    const lock = await mustAcquire("slow");
    const slow = lock.commit([step("before"), { text: "SELECT pg_sleep(5)" }], { statementTimeoutMs: 50 });
    await expect(slow).rejects.toMatchObject({ code: "TIMED_OUT" });
    expect(await locks.readWriters()).toEqual([]);
    await lock.release();
  });
});

describe("two writers", () => {
  it("rejects the commit of a writer that wrongly believes it holds the lock", async () => {
    const first = await mustAcquire("fenced");
    let second: Lock | null = null;
    const stale = first.transaction(async (session) => {
      await session.query("INSERT INTO written VALUES ('first')");
      await locks.disconnect("test lock");
      second = await mustAcquire("fenced");
      await second.transaction((own) => own.query("INSERT INTO written VALUES ('second')"));
    });
    await expect(stale).rejects.toMatchObject({ retry: true });
    expect(await locks.readWriters()).toEqual(["second"]);
    expect(first.isHeld).toBe(false);
    await (second as Lock | null)?.release();
  });
});
