// A new authorization under an identifier that another one holds: the same purchase, charged once.
import type { PaymentRequirements } from "@x402/core/types";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { rejectionMessage } from "../facilitator/facilitator.ts";
import { startLeaseRenewal } from "../ledger/lease.ts";
import type { LedgerRow } from "../ledger/row.ts";
import type { Settlement } from "../settlement/settle.ts";
import { type Payment, toPaymentPayload } from "./payment.ts";
import type { PaymentResponses } from "./responses.ts";
import { type VerifyAndRunOptions, verifyWithDeadline } from "./verify-and-run.ts";

const WRONG_SIGNATURE = "invalid_exact_evm_signature";

/** The request cannot go on before this row changes. */
export type WaitForRow = { readonly waitFor: LedgerRow };

export type HolderRequest = {
  readonly payment: Payment;
  readonly fingerprint: string;
  readonly terms: PaymentRequirements;
  readonly owner: string;
  readonly respond: PaymentResponses;
  /** Where the payer cannot be verified at the moment. */
  readonly respondUnavailable: (cause: unknown) => EndpointResponse;
  /** The holder as the request saw it first. */
  readonly firstSeen: LedgerRow;
};

/**
 * Whatever the holder may still be charged for, the new authorization is not: it waits, gets the stored response, or
 * has the holder's own transfer finished. `waitFor` also where the identifier has just become free to be taken over.
 */
export async function resolveHolder(
  options: VerifyAndRunOptions & { readonly settlement: Settlement },
  wanted: HolderRequest,
  holder: LedgerRow,
): Promise<EndpointResponse | WaitForRow> {
  const { ledger, settlement } = options;
  const { payment, terms, owner, respond } = wanted;
  const wait = { waitFor: holder };
  // Until the holder is verified, anyone may have sent it in the payer's name.
  if (!holder.isVerified) return wait;
  if (holder.fingerprint !== wanted.fingerprint) {
    return respond.conflict("The payment identifier belongs to another request.");
  }
  const { state, transaction } = holder;
  const isPaid = state === "settled" && transaction !== null;
  if (!isPaid && (holder.isLeased || (state !== "settling" && state !== "refused"))) return wait;
  // Requests that waited together share the outcome of one attempt.
  if (holder.attempts > wanted.firstSeen.attempts && !isPaid) {
    return respond.pending("The payment under this identifier is under way; send the same request again.");
  }
  // The identifier alone opens nothing: only its payer can sign another authorization.
  const verdict = await verifyWithDeadline(options, { payload: toPaymentPayload(payment, terms), terms });
  if (verdict.kind === "refused" && verdict.reason === WRONG_SIGNATURE) {
    return respond.paymentRequired(rejectionMessage(verdict.reason));
  }
  // No 402 where money may have moved: the holder's own transfer can be why the balance is too low for this one.
  if (verdict.kind === "refused") {
    return respond.conflict(
      "The payment identifier was used by another signature; send that one again to get its response.",
    );
  }
  if (verdict.kind === "trouble") return wanted.respondUnavailable(verdict.cause);
  if (isPaid) return respond.forSettleResult(holder, { kind: "settled", transaction }, "replayed");

  if (!(await ledger.acquire(holder, owner, state, "settling"))) return wait;
  const lease = startLeaseRenewal(options, holder, owner);
  try {
    // Finished, if it can be: what was sent or rejected may have happened, and anyone who has its signature may still
    // carry it out. Only once no money can move with it, another authorization is charged in its place.
    const result = await settlement.resume(holder, owner);
    if (result.kind !== "refused") return respond.forSettleResult(holder, result, "replayed");
    await ledger.markReplaced(holder, owner);
    return wait;
  } finally {
    await lease.stop();
  }
}
