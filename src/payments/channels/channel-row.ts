// A channel and a purchase as the database has them: their columns, and how they are parsed.
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { BlockSummary } from "../../schema/chain-log.ts";
import { rawSql } from "../../schema/sql.ts";
import type { ChannelConfig } from "./channel-config.ts";

/** State of a channel in the contract. */
export type ChannelState = {
  readonly balance: bigint;
  readonly totalClaimed: bigint;
  /** A withdrawal that the payer has started, and in which second of the chain; both 0 without one. */
  readonly withdrawAmount: bigint;
  readonly withdrawStarted: number;
  readonly refundNonce: bigint;
};

/** A channel as the database has it. */
export type ChannelRow = ChannelState & {
  readonly channelId: Hex;
  readonly config: ChannelConfig;
  /** The part of the balance that was final when the rest was seen. */
  readonly finalBalance: bigint;
  /** The block in which the state was seen first. */
  readonly blockNumber: number;
  readonly charged: bigint;
  /** The largest voucher that was in a transaction of ours. */
  readonly published: bigint;
  /** More was claimed of it than we had charged: another database sells on it too. */
  readonly isClaimedElsewhere: boolean;
  /** The last refund that we signed; anyone who has the signature can use it while the contract has not passed its nonce. */
  readonly signedRefund: { readonly amount: bigint; readonly nonce: bigint } | null;
  /** Signature of the voucher for `charged`; null if that much is claimed already. */
  readonly signature: Hex | null;
};

/** The block as of which all channels are known that no later event changed. */
export type ScanPosition = BlockSummary & { readonly finalNumber: number };

/** Whether anyone may have the voucher for a sum: claims are on the chain, or were on their way there. */
export function isPublicVoucher(
  { totalClaimed, published }: Pick<ChannelRow, "totalClaimed" | "published">,
  maxClaimable: bigint,
): boolean {
  // A voucher for nothing is never claimed.
  return maxClaimable > 0n && (maxClaimable <= totalClaimed || maxClaimable <= published);
}

/** Both ages by the clock of the database. */
export type AgedScan = ScanPosition & {
  /** Since it was read. */
  readonly ageMs: number;
  /** Since its block was made, or until then if the clock is behind. */
  readonly blockAgeMs: number;
};

export type Purchase = {
  readonly channelId: Hex;
  readonly cumulative: bigint;
  readonly amount: bigint;
  readonly fingerprint: string;
  readonly paymentId: string | null;
  readonly depositTransaction: Hex | null;
  readonly depositAmount: bigint | null;
};

export const CHANNEL_COLUMNS =
  rawSql(`channel_id, payer, payer_authorizer, receiver, receiver_authorizer, token,
  withdraw_delay, salt, balance::text as balance, final_balance::text as final_balance,
  total_claimed::text as total_claimed, withdraw_amount::text as withdraw_amount, withdraw_started,
  refund_nonce::text as refund_nonce, block_number, charged::text as charged, signature,
  published::text as published, claimed_elsewhere_at,  signed_refund::text as signed_refund, signed_refund_nonce::text as signed_refund_nonce`);
export const PURCHASE_COLUMNS =
  rawSql(`channel_id, cumulative::text as cumulative, amount::text as amount, fingerprint, payment_id,
  deposit_transaction, deposit_amount::text as deposit_amount`);

const amountIn = (row: JsonObject, column: string) => BigInt(String(row[column]));
const hexIn = (row: JsonObject, column: string) => String(row[column]) as Hex;

export function parseChannelRow(row: JsonObject): ChannelRow {
  return {
    channelId: hexIn(row, "channel_id"),
    config: {
      payer: hexIn(row, "payer"),
      payerAuthorizer: hexIn(row, "payer_authorizer"),
      receiver: hexIn(row, "receiver"),
      receiverAuthorizer: hexIn(row, "receiver_authorizer"),
      token: hexIn(row, "token"),
      withdrawDelay: Number(row.withdraw_delay),
      salt: hexIn(row, "salt"),
    },
    balance: amountIn(row, "balance"),
    finalBalance: amountIn(row, "final_balance"),
    totalClaimed: amountIn(row, "total_claimed"),
    withdrawAmount: amountIn(row, "withdraw_amount"),
    withdrawStarted: Number(row.withdraw_started),
    refundNonce: amountIn(row, "refund_nonce"),
    blockNumber: Number(row.block_number),
    charged: amountIn(row, "charged"),
    signature: row.signature === null ? null : hexIn(row, "signature"),
    published: amountIn(row, "published"),
    isClaimedElsewhere: row.claimed_elsewhere_at !== null,
    signedRefund:
      row.signed_refund === null
        ? null
        : { amount: amountIn(row, "signed_refund"), nonce: amountIn(row, "signed_refund_nonce") },
  };
}

export function parsePurchase(row: JsonObject): Purchase {
  return {
    channelId: hexIn(row, "channel_id"),
    cumulative: amountIn(row, "cumulative"),
    amount: amountIn(row, "amount"),
    fingerprint: String(row.fingerprint),
    paymentId: row.payment_id === null ? null : String(row.payment_id),
    depositTransaction: row.deposit_transaction === null ? null : hexIn(row, "deposit_transaction"),
    depositAmount: row.deposit_amount === null ? null : amountIn(row, "deposit_amount"),
  };
}

export function parseAgedScan(row: JsonObject): AgedScan {
  return { ...parseScan(row), ageMs: Number(row.age_ms), blockAgeMs: Number(row.block_age_ms) };
}

export function parseScan(row: JsonObject): ScanPosition {
  return {
    number: Number(row.block_number),
    hash: hexIn(row, "block_hash"),
    timestamp: Number(row.block_time),
    finalNumber: Number(row.final_number),
  };
}
