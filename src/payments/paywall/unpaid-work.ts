// What clients may cost us without paying, per client and in all: rejected payments, and work for payers who never paid.
import { createRateLimiter } from "../../http/security/request-guard.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";

/** What a rejected payment costs. */
export const REJECTION_UNITS = 1;
/**
 * What unpaid work costs. It takes tens of calls to nodes where a rejected payment takes one or two; but for each, the
 * payer must pay for a transfer of its money to another account.
 */
export const RUN_UNITS = 5;

// As many clients use everything up that all have together.
const CLIENTS_AT_ONCE = 20;
const ALL = "all";

type Limiter = ReturnType<typeof createRateLimiter>;
type TakenUnits = { readonly units: number; release(units: number): void };

/** In memory, as request limits are: each process has these limits for itself. */
export class UnpaidWork {
  readonly #perClient: Limiter;
  readonly #perPayer: Limiter;
  readonly #overall: Limiter;
  readonly #reserve: Limiter;
  readonly #fromReserve: Limiter;

  constructor(perMinute: number, clock: Clock) {
    const inAll = { perMinute: perMinute * CLIENTS_AT_ONCE, clock, clientsMax: 1 };
    this.#perClient = createRateLimiter({ perMinute, clock });
    this.#perPayer = createRateLimiter({ perMinute, clock });
    this.#overall = createRateLimiter(inAll);
    this.#reserve = createRateLimiter(inAll);
    this.#fromReserve = createRateLimiter({ perMinute: 1, clock });
  }

  /** Returns how many milliseconds too early it is where there are no units left. */
  take(client: string, units: number): TakenUnits | number {
    const clientWaitMs = this.#perClient.take(client, units);
    if (clientWaitMs > 0) return clientWaitMs;
    const waitMs = this.#overall.take(ALL, units);
    // Once a minute a client may use the reserve: others that cost us much, together, do not lock it out.
    const hasReserve = () => this.#fromReserve.take(client) === 0 && this.#reserve.take(ALL, units) === 0;
    const pool = waitMs === 0 ? this.#overall : hasReserve() ? this.#reserve : null;
    const release = (unused: number) => {
      this.#perClient.release(client, unused, 0);
      pool?.release(ALL, unused, 0);
    };
    if (pool !== null) return { units, release };
    release(units);
    return waitMs;
  }

  /** For a payer who has paid before and has signed the payment: no other client can use these units up. */
  takeForPayer(payer: Hex, units: number): TakenUnits | number {
    const waitMs = this.#perPayer.take(payer, units);
    if (waitMs > 0) return waitMs;
    return { units, release: (unused) => this.#perPayer.release(payer, unused, 0) };
  }
}

/** What one request takes of it: before the work, and given back at the end unless it was spent. */
export class UnpaidShare {
  /** Null without a limit. */
  readonly #work: UnpaidWork | null;
  readonly #client: string;
  readonly #taken: TakenUnits[] = [];
  #units = 0;
  #spent = 0;

  constructor(work: UnpaidWork | null, client: string) {
    this.#work = work;
    this.#client = client;
  }

  /** Raises what is taken to these units. Returns 0, or how many milliseconds too early it is. */
  take(units: number): number {
    return this.#add(units, (more) => this.#work?.take(this.#client, more) ?? 0);
  }

  takeForPayer(payer: Hex, units: number): number {
    return this.#add(units, (more) => this.#work?.takeForPayer(payer, more) ?? 0);
  }

  #add(units: number, take: (more: number) => TakenUnits | number): number {
    if (this.#units >= units) return 0;
    const taken = take(units - this.#units);
    if (typeof taken === "number") return taken;
    this.#taken.push(taken);
    this.#units = units;
    return 0;
  }

  /** These are not given back; if they were not taken before, as far as there are any. */
  spend(units: number): void {
    this.take(units);
    this.#spent = Math.max(this.#spent, units);
  }

  /** A run that ended without a payment: of a payer who has paid before nothing was taken for it. */
  spendTaken(): void {
    this.#spent = this.#units > REJECTION_UNITS ? this.#units : this.#spent;
  }

  end(): void {
    let left = this.#spent;
    for (const { units, release } of this.#taken.splice(0)) {
      const kept = Math.min(units, left);
      left -= kept;
      if (units > kept) release(units - kept);
    }
  }
}
