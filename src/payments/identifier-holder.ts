// A new authorization under an identifier that another one holds: the same purchase, charged once.
import type { PaymentRequirements } from "@x402/core/types";
import type { EndpointAnswer } from "../schema/endpoint.ts";
import { refusalSentence, verifyPayment } from "./facilitator/facilitator.ts";
import { keepLease } from "./lease.ts";
import type { LedgerRow } from "./ledger-row.ts";
import { type Payment, payloadOf } from "./payment.ts";
import type { PaymentResponses } from "./payment-responses.ts";
import type { Settlement } from "./settlement.ts";
import type { WorkshopOptions } from "./workshop.ts";

/** The request cannot go on before this row changes. */
export type WaitFor = { readonly waitFor: LedgerRow };

export type SamePurchase = {
  readonly payment: Payment;
  readonly fingerprint: string;
  readonly terms: PaymentRequirements;
  readonly owner: string;
  readonly respond: PaymentResponses;
  /** Where the payer cannot be verified at the moment. */
  readonly unavailable: (cause: unknown) => EndpointAnswer;
  /** The holder as the request saw it first; null on the first look. */
  readonly first: LedgerRow | null;
};

/**
 * Whatever the holder may still be charged for, the new authorization is not: it waits, gets the stored response, or
 * has the holder's own transfer finished. `waitFor` also where the identifier has just become free to be taken over.
 */
export async function joinHolder(
  options: WorkshopOptions & { readonly settlement: Settlement },
  wanted: SamePurchase,
  holder: LedgerRow,
): Promise<EndpointAnswer | WaitFor> {
  const { ledger, facilitator, settlement } = options;
  const { payment, terms, owner, respond } = wanted;
  const wait = { waitFor: holder };
  // Until the holder is verified, anyone may have sent it in the payer's name.
  if (!holder.verified) return wait;
  if (holder.fingerprint !== wanted.fingerprint) {
    return respond.conflict("The payment identifier belongs to another request.");
  }
  const { state, transaction } = holder;
  const isPaid = state === "settled" && transaction !== null;
  if (!isPaid && (holder.leased || (state !== "settling" && state !== "refused"))) return wait;
  if (holder.attempts > (wanted.first ?? holder).attempts && !isPaid) {
    return respond.pending("The payment under this identifier is under way; send the same request again.");
  }
  // The identifier alone opens nothing: only its payer can sign another authorization.
  const verdict = await verifyPayment(facilitator, payloadOf(payment, terms), terms);
  if (verdict.kind === "refused") return respond.refused(refusalSentence(verdict.reason));
  if (verdict.kind === "trouble") return wanted.unavailable(verdict.cause);
  if (isPaid) return respond.answered(holder, { kind: "settled", transaction }, "replayed");

  if (!(await ledger.take(holder, owner, state, state))) return wait;
  const lease = keepLease(options, holder, owner);
  try {
    if (state === "settling") {
      // What was sent is finished. While it may still happen, nothing else is charged in its place.
      const result = await settlement.resume(holder, owner);
      if (result.kind !== "refused") return respond.answered(holder, result, "replayed");
      if ((await ledger.find(holder))?.state !== "settling") return wait;
      return respond.pending(
        "An earlier payment under this identifier has expired, but not finally; nothing was charged. Send the same signature again later.",
      );
    }
    // A rejected transfer was not sent, but anyone who has its signature may have carried it out.
    const seen = await settlement.look(holder, owner);
    if (seen !== null && seen.kind !== "refused") return respond.answered(holder, seen, "replayed");
    await ledger.replace(holder, owner);
    return wait;
  } finally {
    await lease.stop();
  }
}
