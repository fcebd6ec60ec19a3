// Decides by the chain about a payment that cannot be charged: someone else who has its signature may have carried it out.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { withDeadline } from "../../lib/clock.ts";
import { findSignatureRejection, hashSignedPayment } from "../facilitator/payer-signature.ts";
import type { PaymentKey } from "../ledger/row.ts";
import type { Payment } from "../paywall/payment.ts";
import { INSUFFICIENT_BALANCE, isNeverValid, NONCE_USED, rejectionMessage } from "../rejection-reasons.ts";
import { expectedTransferFor, lookUpSettlement } from "./find-transfer.ts";
import type { ExpectedTransfer, SettlementLookupResult, TransferFound } from "./lookup.ts";
import type { SettlementContext } from "./settle.ts";

/** Why a payment cannot be charged. A facilitator's reason is a claim; it is null where the payment is not on our terms now. */
export type Rejection = { readonly reason: string | null; readonly message: string };

export type TracedTransfer =
  /** By the payment's own signature, exactly to us: it is paid. */
  | TransferFound
  /** The transfer is ours, and the signature of this request is not its payer's. */
  | { readonly kind: "not-signed" }
  /** No money of this payment has arrived. */
  | { readonly kind: "rejected"; readonly message: string }
  /** The money may have arrived. */
  | { readonly kind: "unclear" };

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
        return { kind: "unclear" };
      case "unused":
        return (await isContradicted(context, rejection, expectedTransferFor(facts), result))
          ? { kind: "unclear" }
          : rejected;
    }
  } catch (err) {
    const { payer, nonce } = key;
    context.log.warn(
      { component: "payments", event: "settlement_lookup_failed", err, payer, nonce },
      "Settlement lookup failed",
    );
    return { kind: "unclear" };
  }
}

/**
 * Whether our node, at a block where the nonce is unused, shows that the facilitator has seen a later block: it calls the
 * nonce used, or the balance too low, which the transfer itself can have done.
 */
async function isContradicted(
  { lookup, clock, limits }: SettlementContext,
  { reason }: Rejection,
  wanted: ExpectedTransfer,
  { at }: Extract<SettlementLookupResult, { readonly kind: "unused" }>,
): Promise<boolean> {
  if (reason !== INSUFFICIENT_BALANCE) return reason === NONCE_USED;
  const balance = await withDeadline({ clock, ms: limits.chainMs, what: "Reading a balance" }, (signal) =>
    lookup.readBalance(wanted, at, signal),
  );
  return balance >= wanted.value;
}

/** Without a node for the signature of a key. Only a node knows what an account with code accepts. */
async function isSigned(
  { lookup, clock, limits }: SettlementContext,
  { payload, terms, payment }: TracedPayment,
): Promise<boolean> {
  if ((await findSignatureRejection(payload, terms)) === null) return true;
  const signed = { hash: hashSignedPayment(payload, terms), signature: payment.signature };
  return withDeadline({ clock, ms: limits.chainMs, what: "Checking a signature" }, (signal) =>
    lookup.isContractSignature(payment.from, signed, signal),
  );
}
