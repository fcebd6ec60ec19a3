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
import type { ExpectedTransfer, LookupBlocks, SettlementLookupResult, TransferFound } from "./lookup.ts";
import type { SettlementLookup } from "./onchain.ts";

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

/** A row, and the process that owns it. */
type OwnedRow = SettlementContext & { readonly row: LedgerRow; readonly owner: string };

export const PAYMENT_EXPIRED_MESSAGE =
  "The payment expired without being carried out, and nothing was charged; sign a new one.";

const UNKNOWN = { kind: "unknown" } as const;

const logFields = ({ payer, nonce }: LedgerRow) => ({ payer, nonce });

// The clock of a chain may be minutes behind ours; no transfer is older than its row by more.
const CLOCK_SECONDS_MAX = 900;
// A fraction of the block time of most chains: little delay for the client, few requests for the node.
const RECEIPT_POLL_MS = 250;

type TransferFacts = Pick<
  LedgerRow,
  "asset" | "payer" | "payTo" | "amount" | "nonce" | "validBefore" | "createdSeconds"
>;

export function expectedTransferFor(row: TransferFacts): ExpectedTransfer {
  const { asset, payer: from, payTo: to, amount: value, nonce, validBefore, createdSeconds } = row;
  return { asset, from, to, value, nonce, validBefore, sinceSeconds: createdSeconds - CLOCK_SECONDS_MAX };
}

/** Reads the chain within the time of one read; `what` names the read if it takes longer. */
export function readChain<T>(
  { lookup, clock, limits }: Pick<SettlementContext, "lookup" | "clock" | "limits">,
  what: string,
  read: (lookup: SettlementLookup, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withDeadline({ clock, ms: limits.chainMs, what }, (signal) => read(lookup, signal));
}

export function lookUpSettlement(
  context: SettlementContext,
  row: LedgerRow,
): Promise<SettlementLookupResult> {
  return readChain(context, "Looking for a transfer", (lookup, signal) =>
    lookup.findSettlement(expectedTransferFor(row), signal),
  );
}

/** Waits for our own node to have the receipt: it may be a block behind the node of the facilitator. */
async function waitForTransfer(owned: OwnedRow, transaction: Hex): Promise<TransferFound | null> {
  const { clock, limits, row } = owned;
  const until = clock.nowMs() + limits.receiptMs;
  for (;;) {
    const found = await readChain(owned, "Reading the receipt of a transfer", (lookup, signal) =>
      lookup.findInTransaction(transaction, expectedTransferFor(row), signal),
    );
    if (found?.kind === "transferred") return found;
    if (found?.kind === "other" || clock.nowMs() >= until) return null;
    await clock.sleep(RECEIPT_POLL_MS);
  }
}

/** Sends the transfer of a row that we own and that was never sent before. */
export function sendTransfer(owned: OwnedRow): Promise<SettleResult> {
  return attemptSettlement(owned, { mayBeExposed: false });
}

/** Looks for the transfer first, then sends it if it can still happen. */
export async function resumeSettlement(owned: OwnedRow): Promise<SettleResult> {
  const { ledger, row, owner } = owned;
  const known = await lookUpPayment(owned);
  if (known !== null) return known;
  if (await ledger.startSettling(row, owner)) return attemptSettlement(owned, { mayBeExposed: true });
  // It was replaced, or taken over. If we still own it, the next request need not wait for the lease to end.
  await ledger.releaseLease(row, owner);
  return UNKNOWN;
}

/** Records what the chain knows of the transfer; null while it may still be sent. Sends nothing. */
export async function lookUpPayment(owned: OwnedRow): Promise<SettleResult | null> {
  const { ledger, log, row, owner } = owned;
  try {
    return await applyLookup(owned, await lookUpSettlement(owned, row));
  } catch (err) {
    log.warn(
      { component: "payments", event: "settlement_lookup_failed", err, ...logFields(row) },
      "Settlement lookup failed",
    );
    await ledger.recordUnknownOutcome(row, owner, null);
    return UNKNOWN;
  }
}

/** `mayBeExposed`: others may know the signature, because the transfer was sent or may have been. */
async function attemptSettlement(
  owned: OwnedRow,
  { mayBeExposed }: { readonly mayBeExposed: boolean },
): Promise<SettleResult> {
  const { ledger, log, row, owner } = owned;
  const outcome = await requestSettleWithDeadline(owned);
  if (outcome.kind === "settled") return confirmReportedTransfer(owned, outcome.transaction);
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
  const known = await lookUpPayment(owned);
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
function requestSettleWithDeadline(owned: OwnedRow): Promise<SettleOutcome> {
  const { facilitator, clock, limits, row } = owned;
  return withDeadline({ clock, ms: limits.settleMs, what: "A settlement" }, () =>
    requestSettle(facilitator, row.payload, row.terms),
  ).catch((cause) => ({ kind: "unknown", transaction: null, cause }));
}

/** A facilitator's success is a claim: the response is delivered only when our own node has the transfer, now. */
export async function confirmReportedTransfer(owned: OwnedRow, transaction: Hex): Promise<SettleResult> {
  const { ledger, log, row, owner } = owned;
  const found = await waitForTransfer(owned, transaction).catch((err) => {
    log.warn(
      { component: "payments", event: "receipt_read_failed", err, ...logFields(row), transaction },
      "Reading the receipt of a transfer failed",
    );
    return null;
  });
  if (found !== null) return recordTransfer(owned, found);
  // Another transaction than the reported one may have moved the money.
  const known = await lookUpPayment(owned);
  if (known !== null) return known;
  log.warn(
    { component: "payments", event: "settlement_claim_not_on_chain", ...logFields(row), transaction },
    "Reported transfer is not on chain; response withheld",
  );
  await ledger.recordUnknownOutcome(row, owner, transaction);
  return UNKNOWN;
}

/** The transition that a lookup result leads to; docs/payments.md has the same table. */
function applyLookup(owned: OwnedRow, result: SettlementLookupResult): Promise<SettleResult | null> {
  switch (result.kind) {
    case "transferred":
      return recordTransfer(owned, result);
    case "consumed-elsewhere":
      return recordConsumedElsewhere(owned, result);
    case "used-without-log":
      return recordUntraced(owned);
    case "unused":
      return recordUnused(owned, result);
  }
}

async function recordTransfer({ ledger, row, owner }: OwnedRow, found: TransferFound): Promise<SettleResult> {
  const { transaction } = found;
  if (await ledger.recordSettled(row, owner, found)) return { kind: "settled", transaction };
  // Another process took over and finds the same transfer.
  const now = await ledger.find(row);
  if (now?.state !== "settled") return UNKNOWN;
  return { kind: "settled", transaction: now.transaction ?? transaction };
}

async function recordConsumedElsewhere(
  owned: OwnedRow,
  { final }: { readonly final: boolean },
): Promise<SettleResult> {
  const { ledger, row, owner } = owned;
  if (row.wasSettled && final) await recordLoss(owned, NONCE_USED);
  else if (final) await ledger.recordRejected(row, owner, NONCE_USED);
  else if (row.wasSettled) await ledger.recordUnknownOutcome(row, owner, null);
  else await ledger.recordRejected(row, owner, NONCE_USED_NOT_FINAL);
  return { kind: "rejected", message: rejectionMessage(NONCE_USED) };
}

async function recordUntraced({ ledger, log, row, owner }: OwnedRow): Promise<SettleResult> {
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

async function recordUnused(owned: OwnedRow, { at, final }: LookupBlocks): Promise<SettleResult | null> {
  const { ledger, row, owner } = owned;
  // No block from `validBefore` on can hold the transfer, and this block and those below do not. The time of any
  // other block, or of another node, would prove nothing about the blocks in between.
  if (at.timestamp < row.validBefore) return null;
  // Until blocks past `validBefore` are final, a reorg can still bring the transfer back.
  const isOver = final !== null && final.timestamp >= row.validBefore;
  if (isOver && row.wasSettled) await recordLoss(owned, "expired");
  else if (isOver) await ledger.recordExpired(row, owner);
  else await ledger.recordUnknownOutcome(row, owner, null);
  return { kind: "rejected", message: PAYMENT_EXPIRED_MESSAGE };
}

/** The response was delivered, the transfer is gone from the chain, and it cannot happen again. */
async function recordLoss({ ledger, log, row, owner }: OwnedRow, reason: string): Promise<void> {
  const { network, asset, payer, nonce, amount, transaction } = row;
  const fields = { network, asset, payer, nonce, amount: amount.toString(), transaction };
  log.error({ component: "payments", event: "payment_lost", ...fields }, "Settled payment lost");
  await ledger.recordLost(row, owner, reason);
}
