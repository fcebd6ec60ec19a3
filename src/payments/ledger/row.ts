// A row of the ledger (payment, request, state and lease, response), and its transitions, which docs/payments.md draws.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import { LEASE_OVER } from "./lease.ts";

/** One EIP-3009 authorization: the token accepts it once. */
export type PaymentKey = {
  readonly network: string;
  readonly asset: Hex;
  readonly payer: Hex;
  readonly nonce: Hex;
};

/** Equal for payments that use the same nonce of the same payer; the token accepts one of them. */
export function paymentKeyText({ network, asset, payer, nonce }: PaymentKey): string {
  return [network, asset, payer, nonce].join(" ");
}

/** The payments of one network and token: services on several networks may share a ledger. */
export type LedgerScope = Pick<PaymentKey, "network" | "asset">;

type Column<T> = readonly [expression: string, parse: (value: unknown, column: string) => T];

const orNull =
  <T>(parse: (value: unknown, column: string) => T) =>
  (value: unknown, column: string): T | null =>
    value === null ? null : parse(value, column);
const isTrue = (value: unknown) => value === true;

/** The columns of a row: under which name they are read, from which expression, and what is made of the value. */
const COLUMNS = {
  network: ["network", String],
  asset: ["asset", parseHex],
  payer: ["payer", parseHex],
  nonce: ["nonce", parseHex],
  payTo: ["pay_to", parseHex],
  amount: ["amount::text", (value) => BigInt(String(value))],
  validBefore: ["valid_before::text", Number],
  fingerprint: ["fingerprint", String],
  digest: ["payment_digest", String],
  /** The payment identifier that the client chose; null without one. */
  paymentId: ["payment_id", orNull(String)],
  payload: ["payload", (value) => JSON.parse(String(value)) as PaymentPayload],
  terms: ["terms", (value) => JSON.parse(String(value)) as PaymentRequirements],
  state: ["state", parseState],
  isVerified: ["verified", isTrue],
  /** Whether a process acts on it now. */
  isLeased: [`not ${LEASE_OVER.name}`, isTrue],
  transaction: ["transaction", orNull(parseHex)],
  blockNumber: ["block_number::text", orNull(Number)],
  blockHash: ["block_hash", orNull(parseHex)],
  attempts: ["attempts", Number],
  failures: ["failures", Number],
  reason: ["reason", orNull(String)],
  createdSeconds: ["extract(epoch from created_at)::bigint::text", Number],
  /** It was settled at some time; if its state says otherwise, a reorg removed the transfer. */
  wasSettled: ["settled_at is not null", isTrue],
} as const satisfies Record<string, Column<unknown>>;

type ColumnValues = {
  readonly [Name in keyof typeof COLUMNS]: ReturnType<(typeof COLUMNS)[Name][1]>;
};

export type LedgerRow = Omit<ColumnValues, "blockNumber" | "blockHash"> & {
  /** The block that held the transfer when it was last read; null before, and in rows of versions without the hash. */
  readonly block: BlockId | null;
};

export const ROW_COLUMNS = rawSql(
  Object.entries(COLUMNS)
    .map(([name, [expression]]) => `${expression} as "${name}"`)
    .join(", "),
);

export function whereKey({ network, asset, payer, nonce }: PaymentKey): SqlText {
  return sql`network = ${network} and asset = ${asset} and payer = ${payer} and nonce = ${nonce}`;
}

export function parseLedgerRow(row: Readonly<Record<string, unknown>>): LedgerRow {
  const values = Object.entries<Column<unknown>>(COLUMNS).map(
    ([name, [column, parse]]) => [name, parse(row[name], column)] as const,
  );
  const { blockNumber: number, blockHash: hash, ...fields } = Object.fromEntries(values) as ColumnValues;
  return { ...fields, block: number === null || hash === null ? null : { number, hash } };
}

function parseHex(value: unknown, column: string): Hex {
  if (typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value)) return value as Hex;
  throw new Error(`payments.${column} is not hex`);
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
  /** Signed receipts. */
  extensions: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  const receipt = { success: true, transaction, network, payer, amount: amount.toString(), ...extensions };
  // No cache may serve a paid response to another client.
  return { "cache-control": "private, no-store", "payment-response": encodeX402Header(receipt) };
}

/** The response with the receipt of its payment. */
export function deliverResponse(
  paid: PaidTransfer,
  { status, headers, body }: EndpointResponse,
  transaction: string,
  extensions: Readonly<Record<string, unknown>> = {},
): EndpointResponse {
  return { status, headers: { ...headers, ...receiptHeaders(paid, transaction, extensions) }, body };
}

/** The values of the column `state`; docs/payments.md describes each. */
export const PAYMENT_STATES = [
  // Being verified and worked for; nothing is charged.
  "reserved",
  // The response is stored; the transfer was sent or will be.
  "settling",
  // Paid.
  "settled",
  // The handler failed; nothing was charged.
  "released",
  // The facilitator rejected the transfer; with the reason NONCE_USED the chain did, for good.
  "refused",
  // The transfer did not happen and never will.
  "expired",
  // The transfer happened, a reorg removed it, and it cannot be repeated.
  "lost",
] as const;

export type PaymentState = (typeof PAYMENT_STATES)[number];

/** `absent` means that there is no row, `final` a settled row whose block no reorg can remove. */
export type LedgerState = "absent" | PaymentState | "final";

export type LedgerTransition = {
  readonly changes: readonly (readonly [from: LedgerState, to: LedgerState])[];
  /** owner: only the holder of the lease; free: only without a live lease; new: only without a row. */
  readonly requires: "owner" | "free" | "owner or free" | "new";
  readonly lease: "takes" | "keeps" | "frees";
};

const stays = <S extends LedgerState>(...states: readonly S[]) =>
  states.map((state) => [state, state] as const);
const leadsTo = <To extends LedgerState, From extends LedgerState>(to: To, ...states: readonly From[]) =>
  states.map((from) => [from, to] as const);

/** Frees the lease of its owner, who is the only one to make the transition. */
const ENDS = { requires: "owner", lease: "frees" } as const;

/** One entry per function of the ledger that changes rows. */
export const LEDGER_TRANSITIONS = {
  open: { changes: leadsTo("reserved", "absent"), requires: "new", lease: "takes" },
  reclaim: {
    changes: [...leadsTo("reserved", "reserved", "released"), ...leadsTo("settling", "settling", "refused")],
    requires: "free",
    lease: "takes",
  },
  admit: { changes: stays("reserved"), requires: "owner", lease: "keeps" },
  deleteReservation: {
    changes: [...leadsTo("absent", "reserved"), ...leadsTo("released", "reserved")],
    ...ENDS,
  },
  deleteUnverified: { changes: leadsTo("absent", "reserved"), requires: "free", lease: "frees" },
  recordJobFailure: { changes: leadsTo("released", "reserved"), ...ENDS },
  storeResponse: { changes: leadsTo("settling", "reserved"), requires: "owner", lease: "keeps" },
  acquire: {
    changes: [...stays("settling", "refused", "settled"), ...leadsTo("settling", "refused")],
    requires: "free",
    lease: "takes",
  },
  startSettling: { changes: leadsTo("settling", "settling", "settled"), requires: "owner", lease: "keeps" },
  recordSettled: { changes: leadsTo("settled", "settling", "refused"), ...ENDS },
  recordUnknownOutcome: { changes: stays("settling", "refused"), ...ENDS },
  recordRejected: { changes: leadsTo("refused", "settling", "refused"), ...ENDS },
  recordExpired: { changes: leadsTo("expired", "settling", "refused"), ...ENDS },
  recordLost: { changes: leadsTo("lost", "settling", "refused"), ...ENDS },
  recordBlock: { changes: [...stays("settled"), ...leadsTo("final", "settled")], ...ENDS },
  markFinal: { changes: leadsTo("final", "settled"), requires: "free", lease: "frees" },
  markReplaced: {
    changes: stays("reserved", "released", "settling", "refused"),
    requires: "owner or free",
    lease: "frees",
  },
  releaseIdentifier: {
    changes: stays("reserved", "released", "refused", "expired", "lost"),
    requires: "free",
    lease: "frees",
  },
  prune: {
    changes: leadsTo("absent", "reserved", "released", "refused", "expired"),
    requires: "free",
    lease: "frees",
  },
} as const satisfies Record<string, LedgerTransition>;

export type LedgerTransitionName = keyof typeof LEDGER_TRANSITIONS;

/** Guards transitions whose states the caller names. */
export function assertTransition(name: LedgerTransitionName, from: LedgerState, to: LedgerState): void {
  const { changes }: LedgerTransition = LEDGER_TRANSITIONS[name];
  if (changes.some((change) => change[0] === from && change[1] === to)) return;
  throw new Error(`${name} does not lead from ${from} to ${to}`);
}

/** The values of the column `state` that a transition starts from. */
export function persistedStatesBefore({ changes }: LedgerTransition): readonly PaymentState[] {
  return [...new Set(changes.flatMap(([from]) => (from === "absent" || from === "final" ? [] : [from])))];
}
