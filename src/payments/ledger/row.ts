// A row of the ledger: the payment, the request it pays for, its state and lease, and the response that was paid for.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import { PAYMENT_STATES, type PaymentState } from "./transitions.ts";

/** One EIP-3009 authorization: the token accepts it once. */
export type PaymentKey = {
  readonly network: string;
  readonly asset: Hex;
  readonly payer: Hex;
  readonly nonce: Hex;
};

/** The payments of one network and token: services on several networks may share a ledger. */
export type LedgerScope = Pick<PaymentKey, "network" | "asset">;

export type LedgerRow = PaymentKey & {
  readonly payTo: Hex;
  readonly amount: bigint;
  readonly validBefore: number;
  readonly fingerprint: string;
  readonly digest: string;
  /** The payment identifier that the client chose; null without one. */
  readonly paymentId: string | null;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
  readonly state: PaymentState;
  readonly isVerified: boolean;
  /** Whether a process acts on it now. */
  readonly isLeased: boolean;
  readonly transaction: Hex | null;
  /** The block that held the transfer when it was last read; null before, and in rows of versions without the hash. */
  readonly block: BlockId | null;
  readonly attempts: number;
  readonly failures: number;
  readonly reason: string | null;
  readonly createdSeconds: number;
  /** It was settled at some time; if its state says otherwise, a reorg removed the transfer. */
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
  const textOrNull = (column: string) => (row[column] === null ? null : text(column));
  const hex = (column: string) => hexIn(row[column], column);
  const hexOrNull = (column: string) => (row[column] === null ? null : hex(column));
  const [number, hash] = [textOrNull("block_number"), hexOrNull("block_hash")];
  return {
    network: text("network"),
    asset: hex("asset"),
    payer: hex("payer"),
    nonce: hex("nonce"),
    payTo: hex("pay_to"),
    amount: BigInt(text("amount")),
    validBefore: Number(text("valid_before")),
    fingerprint: text("fingerprint"),
    digest: text("payment_digest"),
    paymentId: textOrNull("payment_id"),
    payload: JSON.parse(text("payload")) as PaymentPayload,
    terms: JSON.parse(text("terms")) as PaymentRequirements,
    state: parseState(row.state),
    isVerified: row.verified === true,
    isLeased: row.leased === true,
    transaction: hexOrNull("transaction"),
    block: number === null || hash === null ? null : { number: Number(number), hash },
    attempts: Number(row.attempts),
    failures: Number(row.failures),
    reason: textOrNull("reason"),
    createdSeconds: Number(text("created")),
    wasSettled: row.was_settled === true,
  };
}

function hexIn(value: unknown, column: string): Hex {
  if (!isHex(value)) throw new Error(`payments.${column} is not hex`);
  return value;
}

function isHex(value: unknown): value is Hex {
  return typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);
}

function parseState(value: unknown): PaymentState {
  const state = PAYMENT_STATES.find((each) => each === value);
  if (state === undefined) throw new Error(`payments.state has the unknown value ${String(value)}`);
  return state;
}

/** A response as the ledger stores it: exact bytes, so that a retry gets what was paid for. */
export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

// Far above any response of ours. A larger one could not be stored, so it must not be sold.
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const JSON_TYPE = "application/json; charset=utf-8";

export function toStoredResponse({ status, headers = {}, body }: EndpointResponse): StoredResponse {
  const lowerCased = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value] as const);
  // A paid response is never a 304, so it needs no validator.
  const withoutEtag = Object.fromEntries(lowerCased.filter(([key]) => key !== "etag"));
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body) ?? "");
  if (bytes.length === 0 || bytes.length > BODY_BYTES_MAX) {
    throw new Fault("INTERNAL", "The response is empty or too large to be sold.");
  }
  return { status, headers: { "content-type": JSON_TYPE, ...withoutEtag }, body: bytes };
}

/** The fields of a payment's receipt. */
type PaidTransfer = Pick<LedgerRow, "network" | "payer" | "amount">;

export function receiptHeaders(
  { network, payer, amount }: PaidTransfer,
  transaction: string,
): Readonly<Record<string, string>> {
  const receipt = { success: true, transaction, network, payer, amount: amount.toString() };
  // No cache may serve a paid response to another client.
  return { "cache-control": "private, no-store", "payment-response": encodeX402Header(receipt) };
}

/** The response with the receipt of its payment. */
export function deliverResponse(
  paid: PaidTransfer,
  { status, headers, body }: EndpointResponse,
  transaction: string,
): EndpointResponse {
  return { status, headers: { ...headers, ...receiptHeaders(paid, transaction) }, body };
}
