// Decides by the chain about a payment that cannot be charged: someone else who has its signature may have carried it out.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { withDeadline } from "../../lib/clock.ts";
import {
  findSignatureRejection,
  hashSignedPayment,
  unwrapSignature,
} from "../facilitator/payer-signature.ts";
import type { PaymentKey } from "../ledger/row.ts";
import type { Payment } from "../paywall/payment.ts";
import {
  INSUFFICIENT_BALANCE,
  isNeverValid,
  NONCE_USED,
  rejectionCause,
  rejectionMessage,
  retryableMessage,
} from "../rejection-reasons.ts";
import { lookUpSettlement } from "./find-transfer.ts";
import type { SettlementLookupResult, TransferFound } from "./lookup.ts";
import type { SettlementContext } from "./settle.ts";

/** Why a payment cannot be charged. A facilitator's reason is a claim; it is null where the payment is not on our terms now. */
export type Rejection = { readonly reason: string | null; readonly message: string };

type TracedTransfer =
  /** By the payment's own signature, exactly to us: it is paid. */
  | TransferFound
  /** The transfer is ours, and the signature of this request is not its payer's. */
  | { readonly kind: "not-signed" }
  /** No money of this payment has arrived. */
  | { readonly kind: "rejected"; readonly message: string }
  /** The money may have arrived: the same signature must be sent again. */
  | { readonly kind: "unclear"; readonly message: string };

const UNCLEAR = {
  kind: "unclear",
  message:
    "The payment may have been carried out already, which the chain does not show yet. Send the same signature again, do not sign a new one.",
} as const;

type TracedPayment = {
  readonly key: PaymentKey;
  readonly payment: Payment;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
  /** When the payment was first seen. */
  readonly createdSeconds: number;
};

/** docs/payments.md has the table. */
export async function traceTransfer(
  context: SettlementContext,
  traced: TracedPayment,
  rejection: Rejection,
): Promise<TracedTransfer> {
  const { key, payment, createdSeconds } = traced;
  const rejected = { kind: "rejected", message: rejection.message } as const;
  const facts = {
    ...key,
    payTo: payment.to,
    amount: payment.value,
    validBefore: Number(payment.validBefore),
    createdSeconds,
  };
  const isForgery = isNeverValid(rejection.reason);
  // Worthless payments cost their senders nothing, so what our own nodes have said is not read again.
  if (context.facilitator.readsOwnNodes && (isForgery || rejection.reason === INSUFFICIENT_BALANCE)) {
    return rejected;
  }
  try {
    if (isForgery && !(await isSigned(context, traced))) return rejected;
    const result = await lookUpSettlement(facts, context);
    switch (result.kind) {
      case "transferred":
        return (await isSigned(context, traced)) ? result : { kind: "not-signed" };
      case "consumed-elsewhere":
        return { kind: "rejected", message: rejectionMessage(NONCE_USED) };
      case "used-without-log":
        return UNCLEAR;
      case "unused":
        return (await isConfirmed(context, traced, rejection.reason, result))
          ? rejected
          : describeUnconfirmed(rejection.reason);
    }
  } catch (err) {
    const { payer, nonce } = key;
    context.log.warn(
      { component: "payments", event: "settlement_lookup_failed", err, payer, nonce },
      "Settlement lookup failed",
    );
    return UNCLEAR;
  }
}

/**
 * Whether our node confirms a rejection at a block where the nonce is unused. The facilitator may have seen a later block
 * than our node, and any reason that the transfer itself can have caused, or that contradicts what we see, may be due to
 * it.
 */
async function isConfirmed(
  { facilitator, lookup, clock, limits }: SettlementContext,
  { key, payment }: TracedPayment,
  reason: string | null,
  { at }: Extract<SettlementLookupResult, { readonly kind: "unused" }>,
): Promise<boolean> {
  if (reason === null) return true;
  if (facilitator.readsOwnNodes) return reason !== NONCE_USED;
  switch (rejectionCause(reason)) {
    case "rule":
      return true;
    case "too late":
      return BigInt(at.timestamp) >= payment.validBefore;
    case "too early":
      return BigInt(at.timestamp) <= payment.validAfter;
    case "too poor": {
      const wanted = { asset: key.asset, from: key.payer };
      const what = "Reading a balance";
      const balance = await withDeadline({ clock, ms: limits.chainMs, what }, (signal) =>
        lookup.readBalance(wanted, at, signal),
      );
      return balance < payment.value;
    }
    case null:
      return false;
  }
}

function describeUnconfirmed(reason: string | null): TracedTransfer {
  // What the reason advises, to sign again, is wrong for this one.
  if (reason === null || reason === NONCE_USED) return UNCLEAR;
  return { kind: "unclear", message: retryableMessage(reason) };
}

/** Without a node for the signature of a key. Only a node knows what an account with code accepts. */
async function isSigned(
  { lookup, clock, limits }: SettlementContext,
  { payload, terms, payment }: TracedPayment,
): Promise<boolean> {
  if ((await findSignatureRejection(payload, terms)) === null) return true;
  const signature = unwrapSignature(payload);
  if (signature === null) return false;
  const signed = { hash: hashSignedPayment(payload, terms), signature };
  return withDeadline({ clock, ms: limits.chainMs, what: "Checking a signature" }, (signal) =>
    lookup.isContractSignature(payment.from, signed, signal),
  );
}
