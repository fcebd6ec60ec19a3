// Decides by the chain about a payment that cannot be charged: someone else who has its signature may have carried it out.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { findSignatureRejection, hashSignedPayment, unwrapSignature } from "../facilitator/payer-checks.ts";
import type { PaymentKey } from "../ledger/row.ts";
import type { Payment } from "../paywall/payment.ts";
import {
  INSUFFICIENT_BALANCE,
  isNeverValid,
  NONCE_USED,
  rejectionCause,
  rejectionMessage,
  retryableMessage,
  WRONG_SIGNATURE,
} from "../rejection-reasons.ts";
import type { SettlementLookupResult, TransferFound } from "./lookup.ts";
import { expectedTransferFor, readChain, type SettlementContext } from "./settle.ts";

/**
 * Why a payment cannot be charged. A facilitator's reason is a claim; it is null if the payment is not on our terms
 * now.
 */
export type Rejection = { readonly reason: string | null; readonly message: string };

export type TracedTransfer =
  /** The payment's own signature moved the exact amount to us: it is paid. */
  | TransferFound
  /** No money of this payment has arrived. `used` if logs were read that show another use of its nonce. */
  | { readonly kind: "rejected"; readonly message: string; readonly used?: { readonly final: boolean } }
  /** The money may have arrived: the same signature must be sent again. */
  | { readonly kind: "unclear"; readonly message: string; readonly wasSearched?: true }
  /** No node could tell whether the payer's contract accepts the signature. */
  | { readonly kind: "unchecked"; readonly message: string };

// As long as a payment on our terms can be valid: someone else may carry it out at any time of that.
const TRACED_BACK_SECONDS = 86_400;

const UNCLEAR = {
  kind: "unclear",
  message:
    "The payment may have been carried out already, which the chain does not show yet. Send the same signature again, do not sign a new one.",
} as const;
const UNCHECKED = {
  kind: "unchecked",
  message: "The payer's contract cannot be read at the moment; send the same signature again.",
} as const;

type TracedPayment = {
  readonly key: PaymentKey;
  readonly payment: Payment;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
  /** When the payment was first seen. */
  readonly createdSeconds: number;
};

/** docs/payments.md has the table, and what each line of it costs. */
export async function traceTransfer(
  context: SettlementContext,
  traced: TracedPayment,
  rejection: Rejection,
): Promise<TracedTransfer> {
  const { reason, message } = rejection;
  // Worthless payments cost their senders nothing, so what our own nodes have said is not read again.
  if (context.facilitator.readsOwnNodes && (isNeverValid(reason) || reason === INSUFFICIENT_BALANCE)) {
    return { kind: "rejected", message };
  }
  const isSigned = await orNull(context, traced, () => isSignedByPayer(context, traced));
  if (isSigned === null) return UNCHECKED;
  // Before any other read: everyone can copy a nonce from the chain.
  if (!isSigned) return { kind: "rejected", message: rejectionMessage(WRONG_SIGNATURE) };
  return (await orNull(context, traced, () => traceSigned(context, traced, rejection))) ?? UNCLEAR;
}

/** Null, and a line in the log, if the chain cannot be read. */
async function orNull<T>({ log }: SettlementContext, { key }: TracedPayment, read: () => Promise<T>) {
  try {
    return await read();
  } catch (err) {
    const { payer, nonce } = key;
    log.warn(
      { component: "payments", event: "settlement_lookup_failed", err, payer, nonce },
      "Settlement lookup failed",
    );
    return null;
  }
}

async function traceSigned(
  context: SettlementContext,
  traced: TracedPayment,
  { reason, message }: Rejection,
): Promise<TracedTransfer> {
  const { key, payment, createdSeconds } = traced;
  const { to: payTo, value: amount, validAfter } = payment;
  const facts = { ...key, payTo, amount, validBefore: Number(payment.validBefore), createdSeconds };
  // The clock of the chain decides both: the token rejects an authorization that is carried out too early.
  const sinceSeconds = Math.max(Number(validAfter), createdSeconds - TRACED_BACK_SECONDS);
  // A payment that is not ours to charge is worth few calls, as far back as it can have been carried out.
  const result = await readChain(context, "Tracing a transfer", (lookup, signal) =>
    lookup.findSettlement({ ...expectedTransferFor(facts), sinceSeconds }, signal, "brief"),
  );
  switch (result.kind) {
    case "transferred":
      return result;
    case "consumed-elsewhere":
      return { kind: "rejected", message: rejectionMessage(NONCE_USED), used: { final: result.final } };
    case "used-without-log":
      return { ...UNCLEAR, wasSearched: true };
    case "unused":
      return (await isConfirmed(context, traced, reason, result))
        ? { kind: "rejected", message }
        : describeUnconfirmed(reason);
  }
}

/**
 * Whether a block of our node with an unused nonce confirms a rejection. The facilitator may have seen a later block, and
 * any reason that the transfer itself can have caused, or that contradicts what we see, may be due to it. A rule is a
 * reason only of our own process: a remote facilitator can carry out what it says that it does not serve.
 */
async function isConfirmed(
  context: SettlementContext,
  { key, payment }: TracedPayment,
  reason: string | null,
  { at }: Extract<SettlementLookupResult, { readonly kind: "unused" }>,
): Promise<boolean> {
  if (reason === null || BigInt(at.timestamp) >= payment.validBefore) return true;
  const cause = rejectionCause(reason);
  if (reason === NONCE_USED || cause === "too late") return false;
  if (cause === "rule" && context.facilitator.readsOwnNodes) return true;
  const isTooEarly = BigInt(at.timestamp) <= payment.validAfter;
  if (isTooEarly || cause === "too early") return isTooEarly;
  const wanted = { asset: key.asset, from: key.payer };
  const balance = await readChain(context, "Reading a balance", (lookup, signal) =>
    lookup.readBalance(wanted, at, signal),
  );
  return balance < payment.value;
}

function describeUnconfirmed(reason: string | null): TracedTransfer {
  // The reason's advice, to sign again, is wrong for this payment.
  if (reason === null || reason === NONCE_USED) return UNCLEAR;
  return { kind: "unclear", message: retryableMessage(reason) };
}

/** Without a node for the signature of a key. Only a node knows what an account with code accepts. */
async function isSignedByPayer(
  context: SettlementContext,
  { payload, terms, payment }: TracedPayment,
): Promise<boolean> {
  if ((await findSignatureRejection(payload, terms)) === null) return true;
  const signature = unwrapSignature(payload);
  if (signature === null) return false;
  const signed = { hash: hashSignedPayment(payload, terms), signature };
  return readChain(context, "Checking a signature", (lookup, signal) =>
    lookup.isContractSignature(payment.from, signed, signal),
  );
}
