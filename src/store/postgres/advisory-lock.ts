// A lock that the database releases when its holder dies, and transactions that commit only while it is held.
import { createHash } from "node:crypto";
import type { Client } from "pg";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import { backendPid } from "../fast/driver-internals.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Database } from "./database.ts";
import {
  commitPipeline,
  mustDiscardConnection,
  openStatements,
  type QueryRunner,
  runTransaction,
  type Session,
  type TransactionOptions,
} from "./session.ts";

export type Lock = {
  readonly isHeld: boolean;
  /**
   * A transaction on the connection that holds the lock. The lock belongs to that session: while it lives, no other
   * session has the lock, and when it ends, its transaction ends too. So two writers can never both commit, whatever
   * either of them believes, and no fencing token has to be stored and compared.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The same for steps that are known in advance, without waiting for the server in between. */
  commit(steps: readonly PipelineStep[], options: { readonly statementTimeoutMs: number }): Promise<void>;
  release(): Promise<void>;
};

type LockOptions = {
  /** The schema whose lock it is, that of the database if absent; null for a lock that all of its schemas share. */
  readonly schema?: string | null;
  /** How long to wait for the current holder; Infinity for a standby, 0 to try once. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  /** The holder writes a lot: see ConnectOptions. */
  readonly bulkWrites?: boolean;
  /** Take the lock from a frozen holder, even inside COPY. Both sides must set it. Needs the table lock_holders. */
  readonly takeOver?: boolean;
  /** Called when the session of a frozen holder was terminated. */
  readonly onTakeOver?: (pid: number) => void;
  /** Called once if the lock is lost without being released: stop, and acquire it again before writing. */
  readonly onLost?: (fault: Fault) => void;
  /** How often an idle connection is checked; 5 seconds by default. */
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
};

// A standby takes over within this time. It polls instead of waiting inside the server: a statement that waits there
// for days would keep VACUUM from removing the dead rows of those days.
const RETRY_EVERY_MS = 500;
// Detects a dead network on the holder's side.
const HEARTBEAT_EVERY_MS = 5_000;
// A frozen process keeps its TCP session. After this many missed heartbeats `idle_session_timeout` ends the session or,
// where no timeout applies (inside COPY), a standby terminates it: see takeOver.
const HEARTBEATS_MISSED_MAX = 6;
const HEARTBEAT_MS_MAX = 5_000;
const STATEMENT_MS_MAX = 30_000;
// Reads and writes of the one row of a holder.
const HOLDER_MS_MAX = 5_000;
// The writer runs one transaction at a time; a queue behind it is a defect.
const WAITING_MAX = 100;

/** Null if another session still holds the lock after `waitMs`. */
export async function acquireLock(
  database: Database,
  key: string,
  options: LockOptions,
): Promise<Lock | null> {
  const clock = options.clock ?? systemClock;
  const deadlineMs = clock.nowMs() + options.waitMs;
  const { schema = database.schema } = options;
  const attempt = new LockAttempt(database, { key, number: lockNumber(schema ?? "", key) }, options);
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        const lock = await attempt.run(clock.nowMs());
        if (lock) return lock;
      } catch (error) {
        // A standby survives a restart of the database, until its time is up.
        if (!(error instanceof Fault && error.retry) || clock.nowMs() >= deadlineMs) throw error;
        await attempt.disconnect();
      }
      const remainingMs = deadlineMs - clock.nowMs();
      if (remainingMs <= 0) return null;
      await clock.sleep(Math.min(RETRY_EVERY_MS, remainingMs), options.signal);
    }
  } finally {
    await attempt.disconnect();
  }
}

/** Repeated attempts to take a lock over one connection, which the lock keeps once it is taken. */
class LockAttempt {
  readonly #database: Database;
  readonly #identity: LockIdentity;
  readonly #options: LockOptions;
  #client: Client | null = null;
  #nextHolderCheckMs = 0;

  constructor(database: Database, identity: LockIdentity, options: LockOptions) {
    this.#database = database;
    this.#identity = identity;
    this.#options = options;
  }

  async run(nowMs: number): Promise<Lock | null> {
    const { takeOver = false, bulkWrites = false, onTakeOver } = this.#options;
    this.#client ??= await this.#database.connect("lock", { bulkWrites });
    const client = this.#client;
    const { target } = this.#database;
    const session = openStatements(client, { target, statementTimeoutMs: STATEMENT_MS_MAX });
    const holders = openStatements(client, { target, statementTimeoutMs: HOLDER_MS_MAX });
    if (await tryLock(session, this.#identity)) {
      const silenceMs = silenceMsMax(this.#options);
      await session.query(`SET idle_session_timeout TO ${silenceMs}`);
      if (takeOver) await recordLockHolder(holders, this.#identity, silenceMs);
      this.#client = null;
      return new HeldLock(client, this.#database, this.#identity, this.#options);
    }
    if (takeOver && nowMs >= this.#nextHolderCheckMs) {
      this.#nextHolderCheckMs = nowMs + heartbeatMs(this.#options);
      const pid = await terminateFrozenLockHolder(holders, this.#identity);
      if (pid !== null) onTakeOver?.(pid);
    }
    return null;
  }

  async disconnect(): Promise<void> {
    await this.#client?.end();
    this.#client = null;
  }
}

async function tryLock(session: QueryRunner, { number }: LockIdentity): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>({
    text: "SELECT pg_try_advisory_lock($1) AS locked",
    values: [number],
  });
  return rows[0]?.locked === true;
}

const heartbeatMs = (options: LockOptions): number => options.heartbeatMs ?? HEARTBEAT_EVERY_MS;

const silenceMsMax = (options: LockOptions): number => HEARTBEATS_MISSED_MAX * heartbeatMs(options);

class HeldLock implements Lock {
  readonly #client: Client;
  readonly #statements: QueryRunner;
  readonly #database: Database;
  readonly #identity: LockIdentity;
  readonly #options: LockOptions;
  readonly #queue = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  readonly #heartbeat: NodeJS.Timeout;
  #state: "held" | "released" | "lost" = "held";

  constructor(client: Client, database: Database, identity: LockIdentity, options: LockOptions) {
    this.#client = client;
    this.#statements = openStatements(client, {
      target: database.target,
      statementTimeoutMs: HEARTBEAT_MS_MAX,
    });
    this.#database = database;
    this.#identity = identity;
    this.#options = options;
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs(options));
    this.#heartbeat.unref();
    client.on("error", (error) => this.#lose(error));
    client.once("end", () => this.#lose(new Error("the connection ended")));
  }

  get isHeld(): boolean {
    return this.#state === "held";
  }

  transaction<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { target } = this.#database;
    const defaults = { target, statementTimeoutMs: STATEMENT_MS_MAX };
    return this.#whileHeld(() => runTransaction(this.#client, work, { ...defaults, ...options }));
  }

  commit(
    steps: readonly PipelineStep[],
    { statementTimeoutMs }: { readonly statementTimeoutMs: number },
  ): Promise<void> {
    const { target } = this.#database;
    return this.#whileHeld(() => commitPipeline(this.#client, steps, { target, statementTimeoutMs }));
  }

  async release(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#state !== "held") return;
      this.#state = "released";
      clearInterval(this.#heartbeat);
      // Ending the session releases the lock too, but only when the server notices it.
      try {
        await this.#statements.query({
          text: "SELECT pg_advisory_unlock($1)",
          values: [this.#identity.number],
        });
      } finally {
        await this.#client.end();
      }
    });
  }

  #lose(cause: unknown): void {
    if (this.#state !== "held") return;
    this.#state = "lost";
    clearInterval(this.#heartbeat);
    void this.#client.end();
    this.#options.onLost?.(createLockLostFault(this.#identity.key, cause));
  }

  async #beat(): Promise<void> {
    if (this.#options.takeOver) void this.#renew();
    // A running statement detects a lost connection itself.
    if (this.#queue.running > 0) return;
    try {
      await this.#queue.run(() => this.#statements.query("SELECT 1"));
    } catch (error) {
      this.#lose(error);
    }
  }

  // A failed renewal is harmless: the next one follows in five seconds, and six may be missed.
  async #renew(): Promise<void> {
    const silenceMs = silenceMsMax(this.#options);
    const pid = backendPid(this.#client);
    await renewLockHolder(this.#database, this.#identity, pid, silenceMs).catch(() => undefined);
  }

  #whileHeld<T>(task: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#state !== "held") throw createLockLostFault(this.#identity.key, undefined);
      try {
        return await task();
      } catch (error) {
        // A connection left inside a transaction cannot run the next one: the lock is lost with it.
        if (mustDiscardConnection(this.#client)) this.#lose(error);
        throw error;
      }
    });
  }
}

function createLockLostFault(key: string, cause: unknown): Fault {
  return new Fault("DATABASE_LOCK_LOST", `This process no longer holds the lock "${key}".`, { cause });
}

// Advisory locks are 64-bit numbers per database; including the schema separates deployments.
function lockNumber(schema: string, key: string): bigint {
  return createHash("sha256").update(`${schema}\n${key}`).digest().readBigInt64BE(0);
}

type LockIdentity = { readonly key: string; readonly number: bigint };

const after = (parameter: string) => `now() + ${parameter}::double precision * interval '1 millisecond'`;

/** Runs on the session that holds the lock, so that the row names that session: a standby ends it if it freezes. */
async function recordLockHolder(
  session: QueryRunner,
  { key }: LockIdentity,
  silenceMsMax: number,
): Promise<void> {
  await session.query({
    text: `INSERT INTO lock_holders (key, pid, backend_start, alive_until)
      SELECT $1, pid, backend_start, ${after("$2")} FROM pg_stat_activity WHERE pid = pg_backend_pid()
      ON CONFLICT (key) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start,
        alive_until = excluded.alive_until`,
    values: [key, silenceMsMax],
  });
}

/** Runs on the pool: the session that holds the lock may be inside a COPY that takes minutes. */
async function renewLockHolder(
  database: QueryRunner,
  { key }: LockIdentity,
  pid: number,
  silenceMsMax: number,
): Promise<void> {
  await database.query({
    text: `UPDATE lock_holders SET alive_until = ${after("$3")} WHERE key = $1 AND pid = $2`,
    values: [key, pid, silenceMsMax],
  });
}

/**
 * Terminates the session that holds the lock if its row was not renewed in time, and returns its backend pid. Null if
 * the holder is alive, or has no row because it runs an earlier version. All times are the database's.
 */
async function terminateFrozenLockHolder(
  session: QueryRunner,
  { key, number }: LockIdentity,
): Promise<number | null> {
  const { rows } = await session.query<{ pid: number; ended: boolean }>({
    text: `SELECT l.pid, pg_terminate_backend(l.pid) AS ended
      FROM pg_locks l
      JOIN pg_stat_activity a ON a.pid = l.pid
      JOIN lock_holders h ON h.pid = a.pid AND h.backend_start = a.backend_start
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (l.classid::bigint << 32 | l.objid::bigint) = $1
        AND h.key = $2 AND h.alive_until < now()`,
    values: [number, key],
  });
  return rows.find(({ ended }) => ended)?.pid ?? null;
}
