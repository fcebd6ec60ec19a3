// A row of the ledger: which payment, for which request, how far it has come, and who is acting on it.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Hex } from "../../lib/hex.ts";
import type { SqlText } from "../../schema/sql.ts";
import { rawSql, sql } from "../../schema/sql.ts";
import type { BlockId } from "../settlement/lookup.ts";

/**
 * reserved: being checked and worked for, nothing is charged. settling: the answer is kept, the transfer was or will be
 * sent. settled: paid. released: the work failed, nothing was charged. refused: a facilitator refused the transfer (the
 * reason NONCE_USED means that the chain did, for good). expired:
 * it never happened and never will. lost: it happened, the chain forgot it, and it can not be repeated.
 */
export type PaymentState = "reserved" | "settling" | "settled" | "released" | "refused" | "expired" | "lost";

/** What a token takes once. */
export type PaymentKey = {
  readonly network: string;
  readonly asset: Hex;
  readonly payer: Hex;
  readonly nonce: Hex;
};

/** Payments that one chain can be asked about: services on several networks may share a ledger. */
export type LedgerScope = Pick<PaymentKey, "network" | "asset">;

export type LedgerRow = PaymentKey & {
  readonly payTo: Hex;
  readonly amount: bigint;
  readonly validBefore: number;
  readonly fingerprint: string;
  readonly digest: string;
  /** The name its payer gave it, in every state; null without one. */
  readonly paymentId: string | null;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
  readonly state: PaymentState;
  readonly isVerified: boolean;
  /** Whether somebody is acting on it now. */
  readonly isLeased: boolean;
  readonly transaction: Hex | null;
  /** Where its transfer was last seen; null before, and in rows of versions that did not store the hash. */
  readonly block: BlockId | null;
  readonly attempts: number;
  readonly failures: number;
  readonly reason: string | null;
  readonly createdSeconds: number;
  /** It was paid once; when it is not any more, the chain has forgotten it. */
  readonly wasSettled: boolean;
};

export const ROW_COLUMNS =
  rawSql(`network, asset, payer, nonce, pay_to, amount::text as amount, valid_before::text as valid_before,
  fingerprint, payment_digest, payment_id, payload, terms, state, verified, coalesce(lease_until > now(), false) as leased, transaction,
  block_number::text as block_number, block_hash, attempts, failures, reason, extract(epoch from created_at)::bigint::text as created,
  settled_at is not null as was_settled`);

export function whereKey({ network, asset, payer, nonce }: PaymentKey): SqlText {
  return sql`network = ${network} and asset = ${asset} and payer = ${payer} and nonce = ${nonce}`;
}

export function parseLedgerRow(row: Readonly<Record<string, unknown>>): LedgerRow {
  const text = (column: string) => String(row[column]);
  const orNull = (column: string) => (row[column] === null ? null : text(column));
  return {
    network: text("network"),
    asset: text("asset") as Hex,
    payer: text("payer") as Hex,
    nonce: text("nonce") as Hex,
    payTo: text("pay_to") as Hex,
    amount: BigInt(text("amount")),
    validBefore: Number(text("valid_before")),
    fingerprint: text("fingerprint"),
    digest: text("payment_digest"),
    paymentId: orNull("payment_id"),
    payload: JSON.parse(text("payload")) as PaymentPayload,
    terms: JSON.parse(text("terms")) as PaymentRequirements,
    state: text("state") as PaymentState,
    isVerified: row.verified === true,
    isLeased: row.leased === true,
    transaction: orNull("transaction") as Hex | null,
    block: blockOf(orNull("block_number"), orNull("block_hash")),
    attempts: Number(row.attempts),
    failures: Number(row.failures),
    reason: orNull("reason"),
    createdSeconds: Number(text("created")),
    wasSettled: row.was_settled === true,
  };
}

function blockOf(number: string | null, hash: string | null): BlockId | null {
  return number === null || hash === null ? null : { number: Number(number), hash: hash as Hex };
}
