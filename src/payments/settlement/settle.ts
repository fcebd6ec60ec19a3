// Settles a stored response: sends the transfer, and decides by the chain alone whether it happened.
import { type Clock, withDeadline } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import { type PaymentFacilitator, requestSettle, type SettleOutcome } from "../facilitator/facilitator.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import type { LedgerRow } from "../ledger/row.ts";
import type { GateLimits } from "../paywall/limits.ts";
import {
  isNeverValid,
  NONCE_UNTRACED,
  NONCE_USED,
  NONCE_USED_NOT_FINAL,
  rejectionMessage,
  retryableMessage,
} from "../rejection-reasons.ts";
import { lookUpSettlement, waitForTransfer } from "./find-transfer.ts";
import type { LookupBlocks, SettlementLookup, SettlementLookupResult, TransferFound } from "./lookup.ts";

export type SettleResult =
  | { readonly kind: "settled"; readonly transaction: Hex }
  /** No money moved with this authorization and none can: the client may sign again. */
  | { readonly kind: "rejected"; readonly message: string }
  /** The money may have moved, or still can. */
  | { readonly kind: "unknown"; readonly message?: string };

export type SettlementContext = {
  readonly ledger: PaymentLedger;
  readonly facilitator: PaymentFacilitator;
  readonly lookup: SettlementLookup;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

export const PAYMENT_EXPIRED_MESSAGE =
  "The payment expired without being carried out, and nothing was charged; sign a new one.";

const UNKNOWN = { kind: "unknown" } as const;

const logFields = ({ payer, nonce }: LedgerRow) => ({ payer, nonce });

/** Sends the transfer of a row that we own and that was never sent before. */
export function sendTransfer(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
): Promise<SettleResult> {
  return attemptSettlement(context, row, owner, { mayBeExposed: false });
}

/** Looks for the transfer first, then sends it if it can still happen. */
export async function resumeSettlement(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
): Promise<SettleResult> {
  const known = await lookUpPayment(context, row, owner);
  if (known !== null) return known;
  if (await context.ledger.startSettling(row, owner)) {
    return attemptSettlement(context, row, owner, { mayBeExposed: true });
  }
  // It was replaced, or taken over. If we still own it, the next request need not wait for the lease to end.
  await context.ledger.releaseLease(row, owner);
  return UNKNOWN;
}

/** Records what the chain knows of the transfer; null while it may still be sent. Sends nothing. */
export async function lookUpPayment(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
): Promise<SettleResult | null> {
  try {
    return await applyLookup(context, row, owner, await lookUpSettlement(row, context));
  } catch (err) {
    context.log.warn(
      { component: "payments", event: "settlement_lookup_failed", err, ...logFields(row) },
      "Settlement lookup failed",
    );
    await context.ledger.recordUnknownOutcome(row, owner, null);
    return UNKNOWN;
  }
}

/** `mayBeExposed`: others may know the signature, because the transfer was sent or may have been. */
async function attemptSettlement(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
  { mayBeExposed }: { readonly mayBeExposed: boolean },
): Promise<SettleResult> {
  const { ledger, log } = context;
  const outcome = await requestSettleWithDeadline(context, row);
  if (outcome.kind === "settled") return confirmReportedTransfer(context, row, owner, outcome.transaction);
  const { transaction } = outcome;
  if (outcome.kind === "unknown") {
    const { cause: err } = outcome;
    log.warn(
      { component: "payments", event: "settlement_unknown", err, ...logFields(row), transaction },
      "Settlement outcome unknown",
    );
    await ledger.recordUnknownOutcome(row, owner, transaction);
    return UNKNOWN;
  }
  // Anyone who has the signature can carry the transfer out, which makes our own attempt fail. Read the chain first.
  const known = await lookUpPayment(context, row, owner);
  if (known !== null) return known;
  const { reason } = outcome;
  // The row stores the reason only of a payment that was never sent before. NONCE_USED ends a row, and only the chain
  // can show it. A transaction contradicts a reason that is given before anything is sent.
  const isBelieved = !mayBeExposed && !(isNeverValid(reason) && transaction !== null);
  if (isBelieved && reason !== NONCE_USED) await ledger.recordRejected(row, owner, reason);
  else await ledger.recordUnknownOutcome(row, owner, transaction);
  // Never 402: the payment was verified, so a facilitator that rejects it now can still carry it out.
  return reason === NONCE_USED ? UNKNOWN : { ...UNKNOWN, message: retryableMessage(reason) };
}

/** A facilitator that does not respond in time may have sent the transfer. */
function requestSettleWithDeadline(context: SettlementContext, row: LedgerRow): Promise<SettleOutcome> {
  const { facilitator, clock, limits } = context;
  return withDeadline({ clock, ms: limits.settleMs, what: "A settlement" }, () =>
    requestSettle(facilitator, row.payload, row.terms),
  ).catch((cause) => ({ kind: "unknown", transaction: null, cause }));
}

/** A facilitator's success is a claim: the response is delivered only when our own node has the transfer, now. */
export async function confirmReportedTransfer(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
  transaction: Hex,
): Promise<SettleResult> {
  const { ledger, log } = context;
  const found = await waitForTransfer(row, transaction, context).catch((err) => {
    log.warn(
      { component: "payments", event: "receipt_read_failed", err, ...logFields(row), transaction },
      "Reading the receipt of a transfer failed",
    );
    return null;
  });
  if (found !== null) return recordTransfer(context, row, owner, found);
  // Another transaction than the reported one may have moved the money.
  const known = await lookUpPayment(context, row, owner);
  if (known !== null) return known;
  log.warn(
    { component: "payments", event: "settlement_claim_not_on_chain", ...logFields(row), transaction },
    "Reported transfer is not on chain; response withheld",
  );
  await ledger.recordUnknownOutcome(row, owner, transaction);
  return UNKNOWN;
}

/** The transition that a lookup result leads to; docs/payments.md has the same table. */
function applyLookup(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
  result: SettlementLookupResult,
): Promise<SettleResult | null> {
  switch (result.kind) {
    case "transferred":
      return recordTransfer(context, row, owner, result);
    case "consumed-elsewhere":
      return recordConsumedElsewhere(context, row, owner, result);
    case "used-without-log":
      return recordUntraced(context, row, owner);
    case "unused":
      return recordUnused(context, row, owner, result);
  }
}

async function recordTransfer(
  { ledger }: SettlementContext,
  row: LedgerRow,
  owner: string,
  found: TransferFound,
): Promise<SettleResult> {
  const { transaction } = found;
  if (await ledger.recordSettled(row, owner, found)) return { kind: "settled", transaction };
  // Another process took over and finds the same transfer.
  const now = await ledger.find(row);
  if (now?.state !== "settled") return UNKNOWN;
  return { kind: "settled", transaction: now.transaction ?? transaction };
}

async function recordConsumedElsewhere(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
  { final }: { readonly final: boolean },
): Promise<SettleResult> {
  const { ledger } = context;
  if (row.wasSettled && final) await recordLoss(context, row, owner, NONCE_USED);
  else if (final) await ledger.recordRejected(row, owner, NONCE_USED);
  else if (row.wasSettled) await ledger.recordUnknownOutcome(row, owner, null);
  else await ledger.recordRejected(row, owner, NONCE_USED_NOT_FINAL);
  return { kind: "rejected", message: rejectionMessage(NONCE_USED) };
}

async function recordUntraced(
  { ledger, log }: SettlementContext,
  row: LedgerRow,
  owner: string,
): Promise<SettleResult> {
  // Its response was delivered: the row stays as it is until a node shows the log.
  if (row.wasSettled) throw new Error("the transfer of a settled payment is not in the logs");
  log.error(
    { component: "payments", event: "nonce_used_without_log", ...logFields(row) },
    "Nonce used without a log; payment abandoned",
  );
  // No 402: behind a node that omits logs, the payer would pay twice. A retry of the client looks again.
  await ledger.recordRejected(row, owner, NONCE_UNTRACED);
  return UNKNOWN;
}

async function recordUnused(
  context: SettlementContext,
  row: LedgerRow,
  owner: string,
  { at, final }: LookupBlocks,
): Promise<SettleResult | null> {
  // No block from `validBefore` on can hold the transfer, and this block and those below do not. The time of any
  // other block, or of another node, would prove nothing about the blocks in between.
  if (at.timestamp < row.validBefore) return null;
  // Until blocks past `validBefore` are final, a reorg can still bring the transfer back.
  const isOver = final !== null && final.timestamp >= row.validBefore;
  if (isOver && row.wasSettled) await recordLoss(context, row, owner, "expired");
  else if (isOver) await context.ledger.recordExpired(row, owner);
  else await context.ledger.recordUnknownOutcome(row, owner, null);
  return { kind: "rejected", message: PAYMENT_EXPIRED_MESSAGE };
}

/** The response was delivered, the transfer is gone from the chain, and it cannot happen again. */
async function recordLoss(
  { ledger, log }: SettlementContext,
  row: LedgerRow,
  owner: string,
  reason: string,
): Promise<void> {
  const { network, asset, payer, nonce, amount, transaction } = row;
  const fields = { network, asset, payer, nonce, amount: amount.toString(), transaction };
  log.error({ component: "payments", event: "payment_lost", ...fields }, "Settled payment lost");
  await ledger.recordLost(row, owner, reason);
}
