// The ledger of payments: one function per transition, each a single statement.

import type { Hex } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import type { TransferFound } from "../settlement/lookup.ts";
import { HELD, LEASE_OVER } from "./lease.ts";
import {
  LEDGER_TRANSITIONS,
  type LedgerRow,
  type LedgerScope,
  type LedgerTransitionName,
  type PaymentKey,
  type PaymentState,
  parseLedgerRow,
  persistedStatesBefore,
  ROW_COLUMNS,
  type StoredResponse,
  whereKey,
} from "./row.ts";
import {
  acquireSql,
  admitSql,
  countSettledSql,
  deleteReservationSql,
  FREE_LEASE,
  fromNow,
  type OpenOptions,
  type OwnedKey,
  openPaymentsSql,
  openSql,
  ownerTransitionSql,
  type ReclaimOptions,
  type ReservationInput,
  reclaimSql,
  setBlock,
  takeLease,
} from "./statements.ts";

type PaymentLedgerOptions = { readonly leaseMs: number; readonly failureWindowMs: number };

/** The state in which a request finds its payment; `payerFailures` are those within the window. */
export type OpenedPayment = { readonly payerFailures: number } & (
  | { readonly kind: "reserved" }
  | { readonly kind: "found"; readonly row: LedgerRow }
  /** Not allowed, or another request inserted the row or holds the identifier. */
  | { readonly kind: "not-reserved" }
  /** A purchase by another scheme got the identifier a moment ago. */
  | { readonly kind: "name-taken" }
);

/** A payment that may still take money of its payer. */
export type OpenPayment = { readonly nonce: Hex; readonly amount: bigint; readonly validBefore: number };

export type LeaseRenewal = { stop(): Promise<void> };

const RENEWALS_PER_LEASE = 3;
const UNIQUE_VIOLATION = "23505";

/**
 * Functions with an owner return false or null if the row belongs to another process, which must stop the caller from
 * acting on it any further.
 */
export class PaymentLedger {
  readonly #store: StatementRunner;
  readonly #leaseMs: number;
  readonly #failureWindowMs: number;

  constructor(store: StatementRunner, { leaseMs, failureWindowMs }: PaymentLedgerOptions) {
    this.#store = store;
    this.#leaseMs = leaseMs;
    this.#failureWindowMs = failureWindowMs;
  }

  async #readRow(statement: SqlText): Promise<LedgerRow | null> {
    const [row] = await this.#store.run(statement);
    return row ? parseLedgerRow(row) : null;
  }

  async #changesRow(statement: SqlText): Promise<boolean> {
    return (await this.#store.run(statement)).length === 1;
  }

  find(key: PaymentKey): Promise<LedgerRow | null> {
    return this.#readRow(sql`select ${ROW_COLUMNS} from payments where ${whereKey(key)}`);
  }

  /** The one row that may be charged, or was charged, under an identifier. */
  findHolder({ network, asset, payer }: PaymentKey, paymentId: string): Promise<LedgerRow | null> {
    return this.#readRow(sql`select ${ROW_COLUMNS} from payments where network = ${network} and asset = ${asset}
      and payer = ${payer} and payment_id = ${paymentId} and not replaced`);
  }

  /** Finds the payment or reserves it, and counts the failures of its payer. */
  async open(
    reservation: ReservationInput,
    owner: string,
    allowed: Pick<OpenOptions, "failuresMax" | "mayReserve">,
  ): Promise<OpenedPayment> {
    const times = { leaseMs: this.#leaseMs, failureWindowMs: this.#failureWindowMs };
    const [row] = await this.#store.run(openSql(reservation, { ...allowed, ...times, owner }));
    const payerFailures = Number(row?.payer_failures ?? 0);
    if (row && typeof row.network === "string") {
      return { kind: "found", row: parseLedgerRow(row), payerFailures };
    }
    if (row?.is_name_taken === true) return { kind: "name-taken", payerFailures };
    return { kind: row?.reserved_rows === 1 ? "reserved" : "not-reserved", payerFailures };
  }

  /**
   * For a request that sends the same authorization again. Returns the row with the state it had before; null also if
   * its identifier belongs to another authorization.
   */
  async reclaim(key: PaymentKey, owner: string, change: ReclaimOptions): Promise<LedgerRow | null> {
    try {
      const row = await this.#readRow(reclaimSql({ key, owner }, change, this.#leaseMs));
      return row && { ...row, state: change.from };
    } catch (error) {
      // Another row got the identifier between the snapshot and the write.
      if (error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION) return null;
      throw error;
    }
  }

  /** Takes a row that no process acts on. Returns it with the state it had before. */
  async acquire(
    key: PaymentKey,
    owner: string,
    from: PaymentState,
    to: PaymentState,
  ): Promise<LedgerRow | null> {
    const row = await this.#readRow(acquireSql({ key, owner }, from, to, this.#leaseMs));
    return row && { ...row, state: from };
  }

  /** False also for what `storeResponse` no longer stores: a process that wakes up must not make it storable again. */
  renewLease(key: PaymentKey, owner: string): Promise<boolean> {
    return this.#changesRow(sql`update payments set ${takeLease(owner, this.#leaseMs)}, updated_at = now()
      where ${whereKey(key)} and owner = ${owner}
        and (state in ('settling', 'settled', 'refused') or state = 'reserved' and ${HELD})
      returning 1 as done`);
  }

  /** Renews the lease of a row while its owner works; after a crash the lease runs out by itself. */
  startRenewal(key: PaymentKey, owner: string, log: Log): LeaseRenewal {
    let renewing: Promise<unknown> = Promise.resolve();
    const timer = setInterval(() => {
      // A lost lease shows at the next transition, which only the owner can make.
      renewing = renewing
        .then(() => this.renewLease(key, owner))
        .catch((err) =>
          log.warn({ component: "payments", event: "lease_renewal_failed", err }, "Lease renewal failed"),
        );
    }, this.#leaseMs / RENEWALS_PER_LEASE);
    return {
      async stop() {
        clearInterval(timer);
        await renewing;
      },
    };
  }

  /** Leaves the row as it is for the next process. */
  async releaseLease(key: PaymentKey, owner: string): Promise<void> {
    await this.#store.run(
      sql`update payments set ${FREE_LEASE}, updated_at = now() where ${whereKey(key)} and owner = ${owner}`,
    );
  }

  /**
   * Marks a payment as verified, and records the transfer if someone else made it; `others` are the payments of its
   * payer that could still be charged just before, `settled` those settled since its last unpaid one, up to a
   * maximum.
   */
  async admit(
    key: PaymentKey,
    owner: string,
    transfer: Pick<TransferFound, "transaction" | "block"> | null = null,
    settledMax = 1,
  ): Promise<{ readonly isMarked: boolean; readonly others: number; readonly settled: number }> {
    const [row] = await this.#store.run<{ marked: number; others: number; settled: number }>(
      admitSql({ key, owner }, transfer, settledMax),
    );
    return { isMarked: row?.marked === 1, others: row?.others ?? 0, settled: row?.settled ?? 0 };
  }

  /** The payer's other payments that may still be charged, in any process. */
  async findOpenPayments(key: PaymentKey): Promise<readonly OpenPayment[]> {
    type Row = { nonce: Hex; amount: string; valid_before: string };
    const rows = await this.#store.run<Row>(openPaymentsSql(key));
    return rows.map(({ nonce, amount, valid_before }) => ({
      nonce,
      amount: BigInt(amount),
      validBefore: Number(valid_before),
    }));
  }

  /** Whether the payer has paid since it last let work go unpaid. */
  async hasPaid(key: PaymentKey): Promise<boolean> {
    const [row] = await this.#store.run<{ settled: number }>(
      sql`select ${countSettledSql(key, 1)} as settled`,
    );
    return row?.settled === 1;
  }

  /** Removes a reservation: nothing was charged, and no handler ran for it. */
  async deleteReservation(key: PaymentKey, owner: string): Promise<boolean> {
    const [row] = await this.#store.run<{ done: number }>(deleteReservationSql({ key, owner }));
    return row?.done === 1;
  }

  /** Removes a reservation whose signature was never verified and that no process acts on. */
  async deleteUnverified(key: PaymentKey): Promise<void> {
    await this.#store.run(sql`delete from payments where ${whereKey(key)} and state = 'reserved' and not verified
      and ${LEASE_OVER}`);
  }

  /** Counts the failure of a handler against its payer. */
  recordJobFailure(key: PaymentKey, owner: string): Promise<boolean> {
    const window = fromNow(-this.#failureWindowMs);
    return this.#changesRow(
      ownerTransitionSql(
        "recordJobFailure",
        { key, owner },
        sql`state = 'released', failed_at = now(), ${FREE_LEASE},
          failures = 1 + case when failed_at > ${window} then failures else 0 end`,
      ),
    );
  }

  /**
   * Stores the response before anything is charged. From here on the transfer may be sent. Null also if the owner stalled
   * for so long that other payments of the payer no longer wait for this one: two would be worked for at once.
   */
  storeResponse(
    key: PaymentKey,
    owner: string,
    { status, headers, body }: StoredResponse,
  ): Promise<LedgerRow | null> {
    const set = sql`state = 'settling', attempts = attempts + 1, answer_status = ${status},
      answer_headers = ${JSON.stringify(headers)}, answer_body = ${body},
      ${takeLease(owner, this.#leaseMs)}`;
    return this.#readRow(
      ownerTransitionSql("storeResponse", { key, owner }, set, {
        guard: sql`${HELD}`,
        returning: ROW_COLUMNS,
      }),
    );
  }

  startSettling(key: PaymentKey, owner: string): Promise<boolean> {
    const set = sql`state = 'settling', attempts = attempts + 1, final = false,
      ${takeLease(owner, this.#leaseMs)}`;
    // A payment that another authorization replaced is only looked up, never sent.
    const guard = sql`(state = 'settled' or not replaced)`;
    return this.#changesRow(ownerTransitionSql("startSettling", { key, owner }, set, { guard }));
  }

  /** Records a transaction whose outcome is unknown, if there is one, and frees the row. */
  async recordUnknownOutcome(key: PaymentKey, owner: string, transaction: Hex | null): Promise<void> {
    const set = sql`transaction = coalesce(${transaction}, transaction), ${FREE_LEASE}`;
    await this.#store.run(ownerTransitionSql("recordUnknownOutcome", { key, owner }, set));
  }

  recordSettled(
    key: PaymentKey,
    owner: string,
    { transaction, block }: Pick<TransferFound, "transaction" | "block">,
  ): Promise<boolean> {
    const set = sql`state = 'settled', reason = null, transaction = ${transaction}, ${setBlock(block)},
      settled_at = coalesce(settled_at, now()), ${FREE_LEASE}`;
    return this.#changesRow(ownerTransitionSql("recordSettled", { key, owner }, set));
  }

  recordRejected(key: PaymentKey, owner: string, reason: string): Promise<boolean> {
    return this.#recordEnd("recordRejected", { key, owner }, "refused", reason);
  }

  recordExpired(key: PaymentKey, owner: string): Promise<boolean> {
    return this.#recordEnd("recordExpired", { key, owner }, "expired", "expired");
  }

  recordLost(key: PaymentKey, owner: string, reason: string): Promise<boolean> {
    return this.#recordEnd("recordLost", { key, owner }, "lost", reason);
  }

  /** A rejection costs us the work, so it counts as a failure, once: a row that has a reason was counted. */
  #recordEnd(
    name: LedgerTransitionName,
    owned: OwnedKey,
    state: PaymentState,
    reason: string,
  ): Promise<boolean> {
    const set = sql`state = ${state}, reason = ${reason}, ${FREE_LEASE},
      failed_at = case when reason is null then now() else failed_at end,
      failures = case when reason is not null then failures
        when failed_at > ${fromNow(-this.#failureWindowMs)} then failures + 1 else 1 end`;
    return this.#changesRow(ownerTransitionSql(name, owned, set));
  }

  /** Records the block that holds the transfer of a settled payment. */
  recordBlock(
    key: PaymentKey,
    owner: string,
    found: { readonly transaction: Hex; readonly block: BlockId; readonly final: boolean },
  ): Promise<boolean> {
    const set = sql`transaction = ${found.transaction}, ${setBlock(found.block)}, final = ${found.final},
      ${FREE_LEASE}`;
    return this.#changesRow(ownerTransitionSql("recordBlock", { key, owner }, set));
  }

  /** Frees the identifier of a payment that did not happen: the row keeps its text and is never sent again. */
  async markReplaced(key: PaymentKey, owner: string): Promise<void> {
    const states = persistedStatesBefore(LEDGER_TRANSITIONS.markReplaced);
    await this.#store.run(sql`update payments set replaced = true, ${FREE_LEASE}, updated_at = now()
      where ${whereKey(key)} and state = any(${states}) and (owner = ${owner} or ${LEASE_OVER})`);
  }

  async readStoredResponse(key: PaymentKey): Promise<StoredResponse | null> {
    const [row] = await this.#store.run<{ status: number; headers: string; body: Hex }>(
      sql`select answer_status as status, answer_headers as headers, answer_body as body from payments
        where ${whereKey(key)} and answer_body is not null`,
    );
    if (!row) return null;
    const { status, headers, body } = row;
    return { status, headers: parseHeaders(headers), body: Buffer.from(body.slice(2), "hex") };
  }

  /** The sum of all settled payments. */
  async totalPaid({ network, asset }: LedgerScope): Promise<bigint> {
    const [row] = await this.#store.run<{ sum: string }>(
      sql`select coalesce(sum(amount), 0)::text as sum from payments
        where network = ${network} and asset = ${asset} and state = 'settled'`,
    );
    return BigInt(row?.sum ?? 0);
  }
}

function parseHeaders(text: string): StoredResponse["headers"] {
  const headers: unknown = JSON.parse(text);
  if (!isJsonObject(headers)) throw new Error("payments.answer_headers is not an object");
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
