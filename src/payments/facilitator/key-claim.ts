// The claim of a facilitator's key: one process at a time sends with it, and several with a key each share payments.
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { acquireLock, type Lock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";

/** Turns of settlements: one process does one at a time, whichever of several facilitators receives the request. */
export type SettlementTurns = Pick<KeyClaim, "run">;

type KeyClaimOptions = {
  readonly database: Database;
  readonly network: string;
  readonly address: Hex;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  /** How long to wait for the process that has the key. */
  readonly waitMs?: number;
  /** How long to wait for a turn. */
  readonly turnMsMax?: number;
};

// A process that stops leaves within ten seconds, and one that froze loses its session after thirty.
const KEY_WAIT_MS = 45_000;
// A settlement of another process takes a block or two; the client of ours waits for 18 seconds.
const TURN_MS_MAX = 15_000;
const TURN_POLL_MS = 250;
// As many as can be settled at once by a paid service in the same process.
const STATEMENTS_WAITING_MAX = 1_000;
const RECLAIM_PAUSE_MS = 1_000;

/** Throws CONFIG_INVALID if another process keeps the key. */
export async function claimKey(options: KeyClaimOptions): Promise<KeyClaim> {
  const claim = new KeyClaim(options);
  await claim.claimFirst();
  return claim;
}

export class KeyClaim {
  readonly #options: KeyClaimOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** Names in use by this process: its session may take a lock twice. */
  readonly #taken = new Set<string>();
  readonly #statements = createConcurrencyLimit({ runningMax: 1, waitingMax: STATEMENTS_WAITING_MAX });
  #lock: Lock | null = null;

  constructor(options: KeyClaimOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** False after the database was lost, until the key is claimed again: nothing is sent meanwhile. */
  get isHeld(): boolean {
    return this.#lock?.isHeld ?? false;
  }

  async claimFirst(): Promise<void> {
    const { network, address, log, waitMs = KEY_WAIT_MS } = this.#options;
    if (await this.#acquire(0)) return;
    log.warn(
      { component: "payments", event: "facilitator_key_in_use", address, network },
      "Another process uses the facilitator's key, waiting for it",
    );
    if (await this.#acquire(waitMs)) return;
    throw new Fault(
      "CONFIG_INVALID",
      `Another process settles payments with the key of ${address} on ${network}: give each facilitator a key of its own.`,
    );
  }

  /**
   * Runs the work once no other settlement, of this process or another, has the name; with several names, once one of
   * them is free. `store` fails when the turn is lost, so that what is sent is recorded during the turn or not at all.
   */
  async run<T>(names: readonly string[], work: (store: StatementRunner) => Promise<T>): Promise<T> {
    const lock = this.#lock;
    if (!lock?.isHeld) throw new FacilitatorUnavailableError("its key is not claimed at the moment");
    const name = await this.#takeFirstFree(lock, names);
    try {
      return await work({ run: (statement) => this.#onSession(lock, statement) });
    } finally {
      await this.#free(lock, name);
    }
  }

  /** The accounts of all processes that hold a key on this network, in order. */
  async findClaimedAccounts(): Promise<readonly Hex[]> {
    const { database } = this.#options;
    const prefix = this.#keyName("");
    const { rows } = await database.query<{ key: string }>({
      text: "select key from lock_holders where starts_with(key, $1) and alive_until > now() order by key",
      values: [prefix],
    });
    return rows.map(({ key }) => key.slice(prefix.length) as Hex);
  }

  async release(): Promise<void> {
    this.#closing.abort(new Error("the claim of the key is released"));
    const lock = this.#lock;
    this.#lock = null;
    if (!lock?.isHeld) return;
    // Otherwise the account would be listed until its record expires.
    const key = this.#keyName(this.#options.address);
    await this.#onSession(lock, sql`delete from lock_holders where key = ${key}`).catch((err) =>
      this.#options.log.debug(
        { component: "payments", event: "facilitator_key_listed", err },
        "The facilitator's account stays listed for a moment",
      ),
    );
    await lock.release();
  }

  #keyName(address: string): string {
    return `facilitator ${this.#options.network} ${address}`;
  }

  async #acquire(waitMs: number): Promise<boolean> {
    const { database, address, signal } = this.#options;
    const closing = this.#closing.signal;
    this.#lock = await acquireLock(database, this.#keyName(address), {
      waitMs,
      takeOver: true,
      signal: signal ? AbortSignal.any([closing, signal]) : closing,
      onLost: (fault) => void this.#reclaim(fault),
      clock: this.#clock,
    });
    return this.#lock !== null;
  }

  /** A restart of the database ends the session: the key is claimed again, or left to the process that was quicker. */
  async #reclaim(fault: Fault): Promise<void> {
    const { network, address, log } = this.#options;
    this.#lock = null;
    const about = { address, network };
    log.warn(
      { component: "payments", event: "facilitator_key_lost", ...about, err: fault },
      "The claim of the facilitator's key was lost",
    );
    while (!this.#closing.signal.aborted && !this.#options.signal?.aborted) {
      try {
        await this.#acquire(Number.POSITIVE_INFINITY);
        log.info(
          { component: "payments", event: "facilitator_key_claimed", ...about },
          "The facilitator's key is claimed again",
        );
        return;
      } catch (err) {
        if (this.#closing.signal.aborted || this.#options.signal?.aborted) return;
        log.warn(
          { component: "payments", event: "facilitator_key_unclaimed", ...about, err },
          "The facilitator's key cannot be claimed",
        );
        await this.#clock.sleep(RECLAIM_PAUSE_MS, this.#closing.signal).catch(() => undefined);
      }
    }
  }

  async #takeFirstFree(lock: Lock, names: readonly string[]): Promise<string> {
    const { turnMsMax = TURN_MS_MAX } = this.#options;
    const endMs = this.#clock.nowMs() + turnMsMax;
    for (;;) {
      for (const name of names) {
        if (this.#taken.has(name)) continue;
        this.#taken.add(name);
        if (await this.#tryTake(lock, name)) return name;
      }
      if (this.#clock.nowMs() >= endMs) {
        throw new FacilitatorUnavailableError("another process is still busy with this payment or payer");
      }
      await this.#clock.sleep(TURN_POLL_MS);
    }
  }

  async #tryTake(lock: Lock, name: string): Promise<boolean> {
    let isTaken = false;
    try {
      const [row] = await this.#onSession<{ taken: boolean }>(
        lock,
        sql`select pg_try_advisory_lock(hashtextextended(${this.#lockText(name)}, 0)) as taken`,
      );
      isTaken = row?.taken === true;
    } finally {
      if (!isTaken) this.#taken.delete(name);
    }
    return isTaken;
  }

  async #free(lock: Lock, name: string): Promise<void> {
    try {
      // The locks of a lost session are free already.
      if (!lock.isHeld) return;
      await this.#onSession(
        lock,
        sql`select pg_advisory_unlock(hashtextextended(${this.#lockText(name)}, 0))`,
      );
    } catch (err) {
      this.#options.log.warn(
        { component: "payments", event: "settlement_turn_not_freed", err, name },
        "The turn of a settlement was not freed",
      );
    } finally {
      this.#taken.delete(name);
    }
  }

  /** Advisory locks are shared by all schemas of a database. */
  #lockText(name: string): string {
    return `${this.#options.database.schema} settlement ${name}`;
  }

  #onSession<R extends object>(lock: Lock, { text, values }: SqlText): Promise<readonly R[]> {
    return this.#statements.run(async () => {
      const { rows } = await lock.transaction((session) => session.query<R>({ text, values }));
      return rows;
    });
  }
}
