// The SQL of the ledger: each transition is one statement, and its predicate names the state and the owner it expects.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { BlockId } from "../../schema/chain-log.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import type { Payment } from "../paywall/payment.ts";
import { NONCE_UNTRACED, NONCE_USED, NONCE_USED_NOT_FINAL } from "../rejection-reasons.ts";
import { HELD, LEASE_OVER } from "./lease.ts";
import {
  assertTransition,
  LEDGER_TRANSITIONS,
  type LedgerTransition,
  type LedgerTransitionName,
  type PaymentKey,
  type PaymentState,
  persistedStatesBefore,
  ROW_COLUMNS,
  whereKey,
} from "./row.ts";

/** A payment as a request brings it. */
export type ReservationInput = {
  readonly key: PaymentKey;
  readonly payment: Payment;
  readonly fingerprint: string;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
};

/** The row of which a process is the owner. */
export type OwnedKey = { readonly key: PaymentKey; readonly owner: string };

export const FREE_LEASE = rawSql("owner = null, lease_until = null");

export function fromNow(ms: number): SqlText {
  return sql`now() + ${ms}::double precision * interval '1 millisecond'`;
}

export function takeLease(owner: string, leaseMs: number): SqlText {
  return sql`owner = ${owner}, lease_until = ${fromNow(leaseMs)}`;
}

export function setBlock({ number, hash }: BlockId): SqlText {
  return sql`block_number = ${number}, block_hash = ${hash}`;
}

/**
 * A transition that only the owner makes. Another process that took the row over has changed `owner`, so a stalled
 * owner changes nothing and gets no row back.
 */
export function ownerTransitionSql(
  name: LedgerTransitionName,
  { key, owner }: OwnedKey,
  set: SqlText,
  { guard = sql`true`, returning = rawSql("1 as done") }: { guard?: SqlText; returning?: RawSql } = {},
): SqlText {
  const transition: LedgerTransition = LEDGER_TRANSITIONS[name];
  return sql`update payments set ${set}, updated_at = now()
    where ${whereKey(key)} and owner = ${owner} and state = any(${persistedStatesBefore(transition)}) and ${guard}
    returning ${returning}`;
}

/**
 * Takes an identifier away from the row that holds it, if that row cannot be charged: its signature was never
 * verified and its process died, or the authorization is over. The row loses its owner as well, so a stalled process
 * cannot go on. All other rows keep it: the chain must be read first, because anyone may have carried them out.
 */
function releaseIdentifierSql(
  key: PaymentKey,
  paymentId: string | null,
  guard: SqlText = sql`true`,
): SqlText {
  return sql`update payments set replaced = true, ${FREE_LEASE}, updated_at = now()
    where network = ${key.network} and asset = ${key.asset} and payer = ${key.payer} and nonce <> ${key.nonce}
      and payment_id = ${paymentId} and not replaced and ${LEASE_OVER}
      and (state in ('reserved', 'released') and not verified
        or state in ('expired', 'lost') or state = 'refused' and reason = ${NONCE_USED})
      and ${guard}
    returning 1`;
}

/**
 * Takes an identifier for a transfer, unless a purchase by another scheme has it. The row is locked as it is now, not as
 * the statement's snapshot shows it; and its new holder ends every attempt to take it over that has seen it unused.
 */
function takeNameSql({ key, owner }: OwnedKey, paymentId: string | null, guard: SqlText): SqlText {
  return sql`insert into payment_names (network, token, payer, payment_id, scheme, holder)
    select ${key.network}, ${key.asset}, ${key.payer}, ${paymentId}::text, ${TRANSFER_SCHEME}, ${owner}
    where ${paymentId}::text is not null and ${guard}
    on conflict (network, token, payer, payment_id) do update set holder = excluded.holder, created_at = now()
      where payment_names.scheme = excluded.scheme
    returning 1`;
}

/** The scheme of transfers, as names have it. */
export const TRANSFER_SCHEME = "exact";

export type OpenOptions = {
  readonly owner: string;
  readonly leaseMs: number;
  readonly failureWindowMs: number;
  readonly failuresMax: number;
  /** False makes it a plain read. */
  readonly mayReserve: boolean;
};

/**
 * Reads the row of a payment and the failures of its payer, and reserves the payment if there is no row and the
 * payer may still fail. Nothing is written otherwise: `released` and `reserved` both depend on `allowed`.
 *
 * All parts read one snapshot. A row that another request inserts meanwhile is not in `known`; the insert then does
 * nothing and neither a row nor a reservation comes back.
 */
export function openSql(
  { key, payment, fingerprint, payload, terms }: ReservationInput,
  { owner, leaseMs, failureWindowMs, failuresMax, mayReserve }: OpenOptions,
): SqlText {
  const release = releaseIdentifierSql(key, payment.paymentId, sql`exists (select 1 from allowed)`);
  return sql`with known as (select ${ROW_COLUMNS} from payments where ${whereKey(key)}),
    failed as (select coalesce(sum(failures), 0) as payer_failures from payments
      where payer = ${key.payer} and failures > 0 and failed_at > ${fromNow(-failureWindowMs)}),
    allowed as (select 1 from failed where ${mayReserve}::boolean and payer_failures < ${failuresMax}::int
      and not exists (select 1 from known)),
    released as (${release}),
    named as (${takeNameSql({ key, owner }, payment.paymentId, sql`exists (select 1 from allowed)`)}),
    reserved as (insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before,
        fingerprint, payment_digest, payment_id, payload, terms, state, owner, lease_until)
      select ${key.network}, ${key.asset}, ${key.payer}, ${key.nonce}, ${payment.to},
        ${payment.value.toString()}::numeric, ${payment.validBefore.toString()}::bigint, ${fingerprint},
        ${payment.digest}, ${payment.paymentId}, ${JSON.stringify(payload)}, ${JSON.stringify(terms)},
        'reserved', ${owner}, ${fromNow(leaseMs)}
      -- Counting forces the update to run first: until then the unique index still holds the identifier.
      where exists (select 1 from allowed) and (select count(*) from released) >= 0
        and (${payment.paymentId}::text is null or exists (select 1 from named))
      on conflict do nothing returning 1)
    select failed.payer_failures::text as payer_failures, (select count(*) from reserved)::int as reserved_rows,
      ${payment.paymentId}::text is not null and exists (select 1 from allowed) and not exists (select 1 from named)
        as is_name_taken, known.*
    from failed left join known on true`;
}

export type ReclaimOptions = {
  readonly from: PaymentState;
  readonly to: "reserved" | "settling";
  readonly paymentId: string | null;
};

export function reclaimSql(
  { key, owner }: OwnedKey,
  { from, to, paymentId }: ReclaimOptions,
  leaseMs: number,
): SqlText {
  assertTransition("reclaim", from, to);
  // A transfer that was sent has its name.
  const isUnsent = sql`${to === "reserved"}::boolean`;
  return sql`with released as (${releaseIdentifierSql(key, paymentId)}),
      named as (${takeNameSql({ key, owner }, paymentId, isUnsent)})
    update payments set state = ${to}, payment_id = coalesce(payment_id, ${paymentId}), replaced = false,
      ${takeLease(owner, leaseMs)}, updated_at = now()
    where ${whereKey(key)} and state = ${from} and ${LEASE_OVER}
      -- As in openSql: the identifier is released before this row takes it.
      and (select count(*) from released) >= 0
      and (${paymentId}::text is null or not ${isUnsent} or exists (select 1 from named))
    returning ${ROW_COLUMNS}`;
}

export function acquireSql(
  { key, owner }: OwnedKey,
  from: PaymentState,
  to: PaymentState,
  leaseMs: number,
): SqlText {
  assertTransition("acquire", from, to);
  return sql`update payments set state = ${to}, ${takeLease(owner, leaseMs)}, updated_at = now()
    where ${whereKey(key)} and state = ${from} and ${LEASE_OVER} returning ${ROW_COLUMNS}`;
}

/** Marks the payment as verified, and counts what its payer has settled and what may still be charged to it. */
export function admitSql(
  { key, owner }: OwnedKey,
  transfer: { readonly transaction: string; readonly block: BlockId } | null,
  settledMax: number,
): SqlText {
  const found =
    transfer === null ? sql`` : sql`, transaction = ${transfer.transaction}, ${setBlock(transfer.block)}`;
  const mark = ownerTransitionSql("admit", { key, owner }, sql`verified = true${found}`);
  return sql`with marked as (${mark})
    select (select count(*) from marked)::int as marked, ${countSettledSql(key, settledMax)} as settled,
      (select count(*) from (${openPaymentsSql(key)}) open)::int as others`;
}

/**
 * Payments that may be worked on, and payments that were sent or may be: until they expire, anyone who has the
 * signature can carry them out. In two parts, each with an index of its own.
 */
export function openPaymentsSql({ network, asset, payer, nonce }: PaymentKey): SqlText {
  const others = sql`network = ${network} and asset = ${asset} and payer = ${payer} and nonce <> ${nonce}`;
  const columns = rawSql("nonce, amount::text as amount, valid_before::text as valid_before");
  return sql`select ${columns} from payments where ${others} and verified and ${HELD} and state = 'reserved'
    union all select ${columns} from payments where ${others} and state in ('settling', 'refused') and not replaced
      and valid_before > extract(epoch from now()) and (reason is null or reason <> all(${USED_REASONS}))`;
}

const USED_REASONS = [NONCE_USED, NONCE_USED_NOT_FINAL, NONCE_UNTRACED];

/**
 * How many payments of the payer were settled since it last let work go unpaid, up to `max`. The order makes the index
 * of settled payments the only way to read them, however many the payer has.
 */
export function countSettledSql({ network, asset, payer }: PaymentKey, max: number): SqlText {
  return sql`(select count(*) from (select 1 from payments where network = ${network} and asset = ${asset}
    and payer = ${payer} and state = 'settled' and settled_at > coalesce((select max(failed_at) from payments
      where payer = ${payer} and failures > 0 and reason is not null), '-infinity')
    order by settled_at desc limit ${max}::int) settled)::int`;
}

/** Deletes a row. It stays as `released` if it has failures, which still count, or a transfer, which pays for it. */
export function deleteReservationSql({ key, owner }: OwnedKey): SqlText {
  const where = sql`${whereKey(key)} and owner = ${owner} and state = 'reserved'`;
  return sql`with deleted as (delete from payments where ${where} and failures = 0 and transaction is null returning 1),
    released as (update payments set state = 'released', ${FREE_LEASE}, updated_at = now()
      where ${where} and (failures > 0 or transaction is not null) returning 1)
    select ((select count(*) from deleted) + (select count(*) from released))::int as done`;
}
