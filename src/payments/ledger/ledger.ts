// The ledger: every change of a payment is one statement that only its owner can make, and only from the state it knows.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { NONCE_USED } from "../facilitator/facilitator.ts";
import type { Payment } from "../paywall/payment.ts";
import type { BlockId } from "../settlement/lookup.ts";
import {
  type LedgerRow,
  type PaymentKey,
  type PaymentState,
  parseLedgerRow,
  ROW_COLUMNS,
  whereKey,
} from "./row.ts";
import type { StoredResponse } from "./stored-response.ts";

// Which row an identifier belongs to: one at a time, and it changes hands only where the row before cannot be charged.

/**
 * Takes an identifier away from the row that holds it, where nothing of that row was sent or can be: work that failed or
 * whose process died, for the same request or never verified, and authorizations that are over. The row loses its owner
 * with it, so a process that stalled cannot go on. A transfer that was sent or rejected is not here: the chain must be read first.
 */
export function releaseIdentifierSql(
  key: PaymentKey,
  paymentId: string | null,
  fingerprint: string,
): SqlText {
  return sql`update payments set replaced = true, owner = null, lease_until = null, updated_at = now()
    where network = ${key.network} and asset = ${key.asset} and payer = ${key.payer} and nonce <> ${key.nonce}
      and payment_id = ${paymentId} and not replaced and (owner is null or lease_until <= now())
      and (state in ('reserved', 'released') and (fingerprint = ${fingerprint} or not verified)
        or state in ('expired', 'lost') or state = 'refused' and reason = ${NONCE_USED})
    returning 1`;
}

const UNIQUE_VIOLATION = "23505";

/** Another row got the identifier between our reading and our writing. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}

export type ReservationInput = {
  readonly key: PaymentKey;
  readonly payment: Payment;
  readonly fingerprint: string;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
};

export type ReclaimOptions = {
  readonly from: PaymentState;
  readonly to: "reserved" | "settling";
  readonly paymentId: string | null;
  readonly fingerprint: string;
};

/** Answers false where the row is no longer its owner's: whoever hears it must not act any further. */
export type PaymentLedger = {
  find(key: PaymentKey): Promise<LedgerRow | null>;
  /** The one row that may be charged, or was charged, under an identifier. */
  findHolder(key: PaymentKey, paymentId: string): Promise<LedgerRow | null>;
  /** False where the authorization is known already, or its identifier belongs to another one that may be charged. */
  reserve(wanted: ReservationInput, owner: string): Promise<boolean>;
  /** For a request with the same authorization again; false also where its identifier belongs to another one. */
  reclaim(key: PaymentKey, owner: string, change: ReclaimOptions): Promise<boolean>;
  /** Gives the identifier of a transfer that did not happen away: the row keeps its text and is never sent again. */
  markReplaced(key: PaymentKey, owner: string): Promise<void>;
  /** Makes someone the owner of a row that nobody acts on. */
  acquire(key: PaymentKey, owner: string, from: PaymentState, to: PaymentState): Promise<boolean>;
  renewLease(key: PaymentKey, owner: string): Promise<boolean>;
  /** Leaves the row as it is to whoever comes next. */
  releaseLease(key: PaymentKey, owner: string): Promise<void>;
  /** Nothing was charged and nothing was worked for: as if it had never come. */
  deleteReservation(key: PaymentKey, owner: string): Promise<boolean>;
  /** As if it had never come: nobody knows whose it was, and nobody acts on it any more. */
  deleteUnverified(key: PaymentKey): Promise<void>;
  /** The work failed: counted against its payer. */
  recordJobFailure(key: PaymentKey, owner: string): Promise<boolean>;
  storeResponse(key: PaymentKey, owner: string, answer: StoredResponse): Promise<boolean>;
  startSettling(key: PaymentKey, owner: string): Promise<boolean>;
  /** Remembers a transaction whose outcome is not known, and leaves the row to whoever comes next. */
  recordUnknownOutcome(key: PaymentKey, owner: string, transaction: string | null): Promise<void>;
  recordSettled(key: PaymentKey, owner: string, transaction: string, block: BlockId): Promise<boolean>;
  recordEnd(
    key: PaymentKey,
    owner: string,
    state: "refused" | "expired" | "lost",
    reason: string,
  ): Promise<boolean>;
  /** The transfer has been seen in this block. */
  recordBlock(
    key: PaymentKey,
    owner: string,
    seen: { transaction: Hex; block: BlockId; final: boolean },
  ): Promise<boolean>;
  readStoredResponse(key: PaymentKey): Promise<StoredResponse | null>;
  /** Failed work for a payer within the window of the limit. */
  countFailures(payer: Hex): Promise<number>;
  markVerified(key: PaymentKey, owner: string): Promise<boolean>;
  /** Rows of a payer that are being acted on, as far as they are known to be his. */
  countActive(payer: Hex): Promise<number>;
  /** What has been paid and stays so, as far as we know. */
  totalPaid(terms: Pick<PaymentKey, "network" | "asset">): Promise<bigint>;
};

export type PaymentLedgerOptions = { readonly leaseMs: number; readonly failureWindowMs: number };

export function openPaymentLedger(
  store: StatementRunner,
  { leaseMs, failureWindowMs }: PaymentLedgerOptions,
): PaymentLedger {
  const after = (ms: number) => sql`now() + ${ms}::double precision * interval '1 millisecond'`;
  const lease = (owner: string) => sql`owner = ${owner}, lease_until = ${after(leaseMs)}`;
  const FREE = rawSql("owner = null, lease_until = null");
  const one = (rows: readonly Readonly<Record<string, unknown>>[]) =>
    rows[0] ? parseLedgerRow(rows[0]) : null;

  const change = async (
    key: PaymentKey,
    owner: string,
    from: readonly PaymentState[],
    set: SqlText,
    only: SqlText = sql`true`,
  ) =>
    (
      await store.run(sql`update payments set ${set}, updated_at = now()
      where ${whereKey(key)} and owner = ${owner} and state = any(${from}) and ${only} returning 1 as done`)
    ).length === 1;

  return {
    find: async (key) =>
      one(await store.run(sql`select ${ROW_COLUMNS} from payments where ${whereKey(key)}`)),
    findHolder: async ({ network, asset, payer }, id) =>
      one(
        await store.run(sql`select ${ROW_COLUMNS} from payments where network = ${network} and asset = ${asset}
          and payer = ${payer} and payment_id = ${id} and not replaced`),
      ),
    async reserve({ key, payment, fingerprint, payload, terms }, owner) {
      // Loses against the same authorization as well as against another one that holds the identifier.
      const rows =
        await store.run(sql`with freed as (${releaseIdentifierSql(key, payment.paymentId, fingerprint)})
        insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before,
          fingerprint, payment_digest, payment_id, payload, terms, state, owner, lease_until)
        select ${key.network}, ${key.asset}, ${key.payer}, ${key.nonce}, ${payment.to},
          ${payment.value.toString()}::numeric, ${payment.validBefore.toString()}::bigint, ${fingerprint},
          ${payment.digest}, ${payment.paymentId}, ${JSON.stringify(payload)}, ${JSON.stringify(terms)},
          'reserved', ${owner}, ${after(leaseMs)} where (select count(*) from freed) >= 0
        on conflict do nothing returning 1 as done`);
      return rows.length === 1;
    },
    async reclaim(key, owner, { from, to, paymentId, fingerprint }) {
      try {
        const rows = await store.run(sql`with freed as (${releaseIdentifierSql(key, paymentId, fingerprint)})
          update payments set state = ${to}, payment_id = coalesce(payment_id, ${paymentId}), replaced = false,
            ${lease(owner)}, updated_at = now()
          where ${whereKey(key)} and state = ${from} and (owner is null or lease_until <= now())
            and (select count(*) from freed) >= 0 returning 1 as done`);
        return rows.length === 1;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    async markReplaced(key, owner) {
      await store.run(sql`update payments set replaced = true, ${FREE}, updated_at = now()
        where ${whereKey(key)} and state in ('settling', 'refused') and (owner = ${owner} or owner is null or lease_until <= now())`);
    },
    acquire: async (key, owner, from, to) =>
      (
        await store.run(sql`update payments set state = ${to}, ${lease(owner)}, updated_at = now()
        where ${whereKey(key)} and state = ${from} and (owner is null or lease_until <= now()) returning 1 as done`)
      ).length === 1,
    renewLease: (key, owner) =>
      change(key, owner, ["reserved", "settling", "settled", "refused"], lease(owner)),
    async releaseLease(key, owner) {
      await store.run(
        sql`update payments set ${FREE}, updated_at = now() where ${whereKey(key)} and owner = ${owner}`,
      );
    },
    async deleteReservation(key, owner) {
      const gone = await store.run(sql`delete from payments
        where ${whereKey(key)} and owner = ${owner} and state = 'reserved' and failures = 0 returning 1 as done`);
      // What has failed before is still counted.
      return gone.length === 1 || change(key, owner, ["reserved"], sql`state = 'released', ${FREE}`);
    },
    async deleteUnverified(key) {
      await store.run(sql`delete from payments where ${whereKey(key)} and state = 'reserved' and not verified
        and (owner is null or lease_until <= now())`);
    },
    recordJobFailure: (key, owner) =>
      change(
        key,
        owner,
        ["reserved"],
        sql`state = 'released', failed_at = now(), ${FREE},
          failures = 1 + case when failed_at > ${after(-failureWindowMs)} then failures else 0 end`,
      ),
    storeResponse: (key, owner, { status, headers, body }) =>
      change(
        key,
        owner,
        ["reserved"],
        sql`state = 'settling', attempts = attempts + 1, answer_status = ${status},
          answer_headers = ${JSON.stringify(headers)}, answer_body = decode(${body.toString("hex")}, 'hex'), ${lease(owner)}`,
      ),
    startSettling: (key, owner) =>
      change(
        key,
        owner,
        ["settling", "settled"],
        sql`state = 'settling', attempts = attempts + 1, final = false, ${lease(owner)}`,
        // What another authorization replaced is looked for on the chain and never sent.
        sql`(state = 'settled' or not replaced)`,
      ),
    async recordUnknownOutcome(key, owner, transaction) {
      await change(
        key,
        owner,
        ["settling", "refused"],
        sql`transaction = coalesce(${transaction}, transaction), ${FREE}`,
      );
    },
    recordSettled: (key, owner, transaction, block) =>
      change(
        key,
        owner,
        ["settling", "refused"],
        sql`state = 'settled', reason = null, transaction = ${transaction}, ${blockIs(block)},
          settled_at = coalesce(settled_at, now()), ${FREE}`,
      ),
    recordEnd: (key, owner, state, reason) =>
      change(
        key,
        owner,
        ["settling", "refused"],
        // A refusal costs us the work: counted once, like work that failed. A row with a reason has been counted.
        sql`state = ${state}, reason = ${reason}, ${FREE},
          failed_at = case when reason is null then now() else failed_at end,
          failures = case when reason is not null then failures when failed_at > ${after(-failureWindowMs)} then failures + 1 else 1 end`,
      ),
    recordBlock: (key, owner, { transaction, block, final }) =>
      change(
        key,
        owner,
        ["settled"],
        sql`transaction = ${transaction}, ${blockIs(block)}, final = ${final}, ${FREE}`,
      ),
    async readStoredResponse(key) {
      const [row] = await store.run<{ status: number; headers: string; body: Buffer }>(
        sql`select answer_status as status, answer_headers as headers, answer_body as body from payments
          where ${whereKey(key)} and answer_body is not null`,
      );
      return row ? { ...row, headers: JSON.parse(row.headers) as StoredResponse["headers"] } : null;
    },
    async countFailures(payer) {
      const [row] = await store.run<{
        sum: string;
      }>(sql`select coalesce(sum(failures), 0)::text as sum from payments
        where payer = ${payer} and failures > 0 and failed_at > ${after(-failureWindowMs)}`);
      return Number(row?.sum ?? 0);
    },
    markVerified: (key, owner) => change(key, owner, ["reserved"], sql`verified = true`),
    async countActive(payer) {
      const [row] = await store.run<{ count: string }>(sql`select count(*)::text as count from payments
        where payer = ${payer} and verified and owner is not null and lease_until > now()`);
      return Number(row?.count ?? 0);
    },
    async totalPaid({ network, asset }) {
      const [row] = await store.run<{
        sum: string;
      }>(sql`select coalesce(sum(amount), 0)::text as sum from payments
        where network = ${network} and asset = ${asset} and state = 'settled'`);
      return BigInt(row?.sum ?? 0);
    },
  };
}

function blockIs({ number, hash }: BlockId): SqlText {
  return sql`block_number = ${number}, block_hash = ${hash}`;
}
