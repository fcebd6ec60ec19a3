// Being the only one: a lock that the database takes back when its holder dies, and transactions that need it to commit.
import { createHash } from "node:crypto";
import type { Client } from "pg";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Database } from "./database.ts";
import {
  type LockIdentity,
  recordLockHolder,
  renewLockHolder,
  terminateFrozenLockHolder,
} from "./lock-holder.ts";
import {
  commitPipeline,
  mustDiscardConnection,
  runStatement,
  runTransaction,
  type Session,
  type TransactionOptions,
} from "./session.ts";

export type Lock = {
  readonly isHeld: boolean;
  /**
   * A transaction on the very connection that holds the lock. The lock belongs to that session: while the session
   * lives nobody else can have the lock, and when it is gone its transaction is gone with it. So two writers can
   * never both commit, whatever either of them believes, and no epoch has to be stored and compared.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The same for steps that are known beforehand, without waiting for the server in between. */
  commit(steps: readonly PipelineStep[], options: { readonly statementTimeoutMs: number }): Promise<void>;
  release(): Promise<void>;
};

export type LockOptions = {
  /** How long to wait for the present holder; Infinity is a standby, 0 asks once. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  /** The holder writes much: see ConnectOptions. */
  readonly bulkWrites?: boolean;
  /** Take the lock from a holder that froze, even inside COPY; both sides say so. Needs the table lock_holders. */
  readonly takeOver?: boolean;
  /** Called when the session of a frozen holder was terminated. */
  readonly onTakeOver?: (pid: number) => void;
  /** Called once when the lock is lost without being released: stop, and acquire it again before writing. */
  readonly onLost?: (fault: Fault) => void;
  /** How often a silent connection is tried; 5 seconds unless said otherwise. */
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
};

// A standby takes over within this time. It asks again and again rather than waiting inside the server, because a
// statement that waits there for days would keep every dead row of those days from being cleaned up.
const ASK_EVERY_MS = 500;
// A silent connection is tried this often, so that a holder behind a dead network learns that it is none.
const HEARTBEAT_EVERY_MS = 5_000;
// A frozen process keeps its TCP session. After so many missed heartbeats `idle_session_timeout` ends the session, or,
// where no timeout applies (inside COPY), a standby terminates it: see takeOver.
const HEARTBEATS_MISSED_MAX = 6;
const HEARTBEAT_MS_MAX = 5_000;
const STATEMENT_MS_MAX = 30_000;
// The writer works in one transaction at a time; a queue behind it is a defect.
const WAITING_MAX = 100;

/** Null when somebody else still holds it after `waitMs`. */
export async function acquireLock(
  database: Database,
  key: string,
  options: LockOptions,
): Promise<Lock | null> {
  const clock = options.clock ?? systemClock;
  const until = clock.nowMs() + options.waitMs;
  const wanted = { key, number: lockNumber(database.schema, key) };
  let lookAtMs = clock.nowMs();
  let client: Client | null = null;
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        client ??= await database.connect("lock", { bulkWrites: options.bulkWrites ?? false });
        if (await tryLock(client, database, wanted)) {
          const holder = client;
          await endWhenSilent(holder, database, options);
          if (options.takeOver) await recordLockHolder(holder, database, wanted, silentMsMax(options));
          client = null;
          return hold(holder, database, wanted, options);
        }
        if (options.takeOver && clock.nowMs() >= lookAtMs) {
          lookAtMs = clock.nowMs() + heartbeatMs(options);
          const pid = await terminateFrozenLockHolder(client, database, wanted);
          if (pid !== null) options.onTakeOver?.(pid);
        }
      } catch (error) {
        // A standby outlives a restart of the database; whoever can not wait any longer is told.
        if (!(error instanceof Fault && error.retry) || clock.nowMs() >= until) throw error;
        await client?.end();
        client = null;
      }
      const leftMs = until - clock.nowMs();
      if (leftMs <= 0) return null;
      await clock.sleep(Math.min(ASK_EVERY_MS, leftMs), options.signal);
    }
  } finally {
    await client?.end();
  }
}

async function tryLock(client: Client, database: Database, { number }: LockIdentity): Promise<boolean> {
  const { rows } = await runStatement<{ locked: boolean }>(
    client,
    { text: "SELECT pg_try_advisory_lock($1) AS locked", values: [number] },
    { place: database.target, statementTimeoutMs: STATEMENT_MS_MAX },
  );
  return rows[0]?.locked === true;
}

async function endWhenSilent(
  client: Client,
  { target: place }: Database,
  options: LockOptions,
): Promise<void> {
  const statement = `SET idle_session_timeout TO ${silentMsMax(options)}`;
  await runStatement(client, statement, { place, statementTimeoutMs: STATEMENT_MS_MAX });
}

const heartbeatMs = (options: LockOptions): number => options.heartbeatMs ?? HEARTBEAT_EVERY_MS;

const silentMsMax = (options: LockOptions): number => HEARTBEATS_MISSED_MAX * heartbeatMs(options);

function hold(client: Client, database: Database, held: LockIdentity, options: LockOptions): Lock {
  const { key } = held;
  const turn = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  const { target: place } = database;
  let state: "held" | "released" | "lost" = "held";
  const heartbeat = setInterval(() => void beat(), heartbeatMs(options));
  heartbeat.unref();
  client.on("error", lose);
  client.once("end", () => lose(new Error("the connection ended")));

  function lose(cause: unknown): void {
    if (state !== "held") return;
    state = "lost";
    clearInterval(heartbeat);
    void client.end();
    options.onLost?.(lostFault(key, cause));
  }

  async function beat(): Promise<void> {
    if (options.takeOver) void renew();
    // Whoever uses the connection finds out by itself.
    if (turn.running > 0) return;
    try {
      await turn.run(() => runStatement(client, "SELECT 1", { place, statementTimeoutMs: HEARTBEAT_MS_MAX }));
    } catch (error) {
      lose(error);
    }
  }

  // A beat that fails is not the end: the next one is five seconds away, and six may be missed.
  async function renew(): Promise<void> {
    await renewLockHolder(database, held, processIdOf(client), silentMsMax(options)).catch(() => undefined);
  }

  function whileHeld<T>(task: () => Promise<T>): Promise<T> {
    return turn.run(async () => {
      if (state !== "held") throw lostFault(key, undefined);
      try {
        return await task();
      } catch (error) {
        // A connection left inside a transaction can not be trusted with the next one: the lock goes with it.
        if (mustDiscardConnection(client)) lose(error);
        throw error;
      }
    });
  }

  return {
    get isHeld() {
      return state === "held";
    },
    transaction: (work, chosen = {}) =>
      whileHeld(() =>
        runTransaction(client, work, { place, statementTimeoutMs: STATEMENT_MS_MAX, ...chosen }),
      ),
    commit: (steps, chosen) => whileHeld(() => commitPipeline(client, steps, { place, ...chosen })),
    async release() {
      await turn.run(async () => {
        if (state !== "held") return;
        state = "released";
        clearInterval(heartbeat);
        // Ending the session frees the lock too, but only when the server gets round to it.
        const statement = {
          text: "SELECT pg_advisory_unlock($1)",
          values: [held.number],
        };
        try {
          await runStatement(client, statement, { place, statementTimeoutMs: HEARTBEAT_MS_MAX });
        } finally {
          await client.end();
        }
      });
    },
  };
}

function lostFault(key: string, cause: unknown): Fault {
  return new Fault("DATABASE_LOCK_LOST", `This process no longer holds the lock "${key}".`, { cause });
}

// What the driver's client has beyond its declared type: the process of the server that serves it.
function processIdOf(client: Client): number {
  return (client as Client & { readonly processID: number }).processID;
}

// The server counts locks by 64-bit numbers in one database; the schema keeps deployments apart.
function lockNumber(schema: string, key: string): bigint {
  return createHash("sha256").update(`${schema}\n${key}`).digest().readBigInt64BE(0);
}
