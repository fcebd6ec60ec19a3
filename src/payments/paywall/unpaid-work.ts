// Limits what clients may cost us without paying, per client and in all: rejected payments, and runs for payers who never paid.
import { createRateLimiter } from "../../http/security/request-guard.ts";
import type { Clock } from "../../lib/clock.ts";
import { FairShares } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";

/** The cost of a rejected payment. */
export const REJECTION_UNITS = 1;
/**
 * The cost of an unpaid run. It takes tens of calls to nodes, a rejected payment one or two; but for each, the payer
 * must pay for a transfer of its money to another account.
 */
export const RUN_UNITS = 5;
// As many clients use everything up that all have together, if no others come.
const CLIENTS_AT_ONCE = 20;

type Release = () => void;
/** A number says how many milliseconds too early it is. */
type Taken = Release | number;

/** The units of each client a minute, and of all clients in fair shares. */
class ClientShares {
  readonly #perClient: ReturnType<typeof createRateLimiter>;
  readonly #overall: FairShares;

  constructor(perClientPerMinute: number, clock: Clock) {
    const perMinute = perClientPerMinute * CLIENTS_AT_ONCE;
    this.#perClient = createRateLimiter({ perMinute: perClientPerMinute, clock });
    this.#overall = new FairShares({ perMinute, perClientPerMinute, clock });
  }

  take(client: string): Taken {
    const clientWaitMs = this.#perClient.take(client);
    if (clientWaitMs > 0) return clientWaitMs;
    const waitMs = this.#overall.take(client);
    if (waitMs > 0) this.#perClient.release(client, 1, 0);
    if (waitMs > 0) return waitMs;
    return () => {
      this.#perClient.release(client, 1, 0);
      this.#overall.release(client);
    };
  }
}

/**
 * Rejections and runs are counted apart: forged payments use up nothing that first purchases need. In
 * memory, as request limits are: each process has these limits for itself.
 */
export class UnpaidWork {
  readonly #rejections: ClientShares;
  readonly #runs: ClientShares;
  readonly #perPayer: ReturnType<typeof createRateLimiter>;

  constructor(unitsPerMinute: number, clock: Clock) {
    this.#rejections = new ClientShares(unitsPerMinute / REJECTION_UNITS, clock);
    this.#runs = new ClientShares(Math.ceil(unitsPerMinute / RUN_UNITS), clock);
    this.#perPayer = createRateLimiter({ perMinute: unitsPerMinute / REJECTION_UNITS, clock });
  }

  takeRejection(client: string): Taken {
    return this.#rejections.take(client);
  }

  takeRun(client: string): Taken {
    return this.#runs.take(client);
  }

  /** For a payer who has paid before and has signed the payment: no other client can use these units up. */
  takeForPayer(payer: Hex): Taken {
    const waitMs = this.#perPayer.take(payer);
    return waitMs > 0 ? waitMs : () => this.#perPayer.release(payer, 1, 0);
  }
}

const SPENT: Release = () => {};

/** The units that one request takes before the work; they are given back at the end unless it was spent. */
export class UnpaidShare {
  /** Null without a limit. */
  readonly #work: UnpaidWork | null;
  readonly #client: string;
  #rejection: Release | null = null;
  #run: Release | null = null;
  /** The payer whose units are taken instead of the client's. */
  #payer: Hex | null = null;

  constructor(work: UnpaidWork | null, client: string) {
    this.#work = work;
    this.#client = client;
  }

  /** Whether the payment may be rejected at the cost of what is taken. */
  get hasAny(): boolean {
    return this.#work === null || this.#rejection !== null || this.#run !== null;
  }

  /** Returns 0, or how many milliseconds too early it is; so do the others. */
  takeRejection(): number {
    return this.#keepRejection(this.#work?.takeRejection(this.#client));
  }

  takeForPayer(payer: Hex): number {
    this.#payer = payer;
    return this.#keepRejection(this.#work?.takeForPayer(payer));
  }

  takeRun(): number {
    if (this.#run !== null) return 0;
    const taken = this.#work?.takeRun(this.#client) ?? SPENT;
    if (typeof taken === "number") return taken;
    this.#run = taken;
    return 0;
  }

  #takeAnother(): void {
    if (this.#payer === null) this.takeRejection();
    else this.takeForPayer(this.#payer);
  }

  #keepRejection(taken: Taken = SPENT): number {
    if (typeof taken === "number") return taken;
    this.#rejection = taken;
    return 0;
  }

  /**
   * Units that were taken are not given back; those that were not taken before are charged as far as any are left.
   * Without a run, as many rejections are spent as a run is worth: what costs more must never cost less than what was
   * taken.
   */
  spend(units: typeof REJECTION_UNITS | typeof RUN_UNITS): void {
    if (units === RUN_UNITS) this.takeRun();
    const isRun = this.#run !== null && (units === RUN_UNITS || this.#rejection === null);
    if (isRun) this.spendTaken();
    for (let spent = 0; !isRun && spent < units; spent += 1) {
      if (spent > 0 || this.#rejection === null) this.#takeAnother();
      if (this.#rejection !== null) this.#rejection = SPENT;
    }
  }

  /** A run that ended without a payment: for a payer who has paid before nothing was taken. */
  spendTaken(): void {
    if (this.#run !== null) this.#run = SPENT;
  }

  end(): void {
    this.#rejection?.();
    this.#run?.();
    this.#rejection = null;
    this.#run = null;
  }
}

// About ten megabytes. A forgotten payment is looked up once more.
const PAYMENTS_MAX = 50_000;
// A reorg can undo a use that is not final; until then the same response is as good as a new lookup.
const NOT_FINAL_MS = 60_000;
// One node has shown it, which may be wrong: this limits the cost and proves nothing.
const FINAL_MS = 3_600_000;

/** In memory, by the authorization together with its signature: another one with the same nonce proves nothing. */
export class SpentPayments {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #forgottenAtMs = new LruMap<string, number>(PAYMENTS_MAX);

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** The nonce of the payment was used for something else, or cancelled; `final` if no reorg can undo that. */
  remember(digest: string, final: boolean): void {
    this.#forgottenAtMs.set(digest, this.#clock.nowMs() + (final ? FINAL_MS : NOT_FINAL_MS));
  }

  has(digest: string): boolean {
    return (this.#forgottenAtMs.get(digest) ?? 0) > this.#clock.nowMs();
  }
}
