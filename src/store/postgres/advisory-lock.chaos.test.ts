// Locks of processes that are killed, frozen and disconnected, over real heartbeats.
// Fast tests of the same rules, with short heartbeats and one disconnection at a time, are in advisory-lock.test.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LockDatabase } from "../../../tests/support/database/lock-database.ts";
import { systemClock } from "../../lib/clock.ts";
import { acquireLock, type Lock } from "./advisory-lock.ts";
import type { Database } from "./database.ts";

let locks: LockDatabase;
let database: Database;

beforeAll(async () => {
  locks = await LockDatabase.open();
  database = locks.database;
});
afterAll(() => locks.close());
beforeEach(() => locks.createWritten());

async function mustAcquire(key: string): Promise<Lock> {
  const lock = await acquireLock(database, key, { waitMs: 5_000 });
  if (!lock) throw new Error("not acquired");
  return lock;
}

async function isCopying(): Promise<boolean> {
  const { rows } =
    await database.query(`SELECT 1 FROM pg_stat_progress_copy p JOIN pg_stat_activity a USING (pid)
    WHERE a.application_name = 'lock child lock' AND p.bytes_processed > 0 AND a.datname = current_database()`);
  return rows.length > 0;
}

describe("acquireLock", () => {
  it("passes the lock to a waiting process when the holder is killed", async () => {
    const child = locks.startHolder();
    expect(await child.next()).toEqual({ state: "held" });
    const waiting = acquireLock(database, "writer", { waitMs: Number.POSITIVE_INFINITY });
    await sleep(100);
    child.kill("SIGKILL");
    const lock = await waiting;
    expect(lock?.isHeld).toBe(true);
    await lock?.release();
  });

  it("passes the lock to a waiting process when the holder freezes, and only then", {
    timeout: 60_000,
  }, async () => {
    // Six heartbeats may be missed.
    const child = locks.startHolder({ heartbeatMs: 600 });
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
    expect(await locks.readWriters()).toEqual(["second"]);
    await lock?.release();
  });

  it("takes the lock over from a holder that froze inside COPY", { timeout: 60_000 }, async () => {
    const child = locks.startHolder({ heartbeatMs: 500, takeOver: true });
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
    expect(await locks.readWriters()).toEqual(["second"]);
    await lock?.release();
  });

  it("leaves the lock with a holder that runs a long statement", { timeout: 60_000 }, async () => {
    const holder = await acquireLock(database, "busy", { waitMs: 0, heartbeatMs: 200, takeOver: true });
    const busy = holder?.transaction((session) => session.query("SELECT pg_sleep(4)"));
    const second = await acquireLock(database, "busy", { waitMs: 3_500, heartbeatMs: 200, takeOver: true });
    expect(second).toBeNull();
    await busy;
    expect(holder?.isHeld).toBe(true);
    await holder?.release();
  });
});

describe("two writers", () => {
  it("lets one of two writers commit, even if the first was frozen while it lost the lock", async () => {
    const child = locks.startHolder();
    expect(await child.next()).toEqual({ state: "held" });
    child.kill("SIGSTOP");
    expect(await acquireLock(database, "writer", { waitMs: 300 })).toBeNull();
    await locks.disconnect("lock child lock");
    const lock = await mustAcquire("writer");
    await lock.transaction((session) => session.query("INSERT INTO written VALUES ('second')"));
    child.send("write");
    child.kill("SIGCONT");
    const messages = [await child.next<{ state: string }>(), await child.next<{ state: string }>()];
    expect(messages.map(({ state }) => state).sort()).toEqual(["lost", "rejected"]);
    expect(await locks.readWriters()).toEqual(["second"]);
    await lock.release();
  });

  it("writers never overlap while connections are lost at random", async () => {
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
        await locks.disconnect("test lock");
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
