// From a stored response to a paid one: sends the transfer, and takes what became of it from the chain alone.
import type { Clock } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/deadline.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import {
  isNeverValid,
  NONCE_USED,
  type PaymentFacilitator,
  rejectionMessage,
  requestSettle,
  type SettleOutcome,
} from "../facilitator/facilitator.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import type { LedgerRow } from "../ledger/row.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { lookUpSettlement, waitForTransfer } from "./find-transfer.ts";
import type { SettlementLookup, SettlementLookupResult, TransferFound } from "./lookup.ts";

export type SettleResult =
  | { readonly kind: "settled"; readonly transaction: string }
  /** No money moved with this authorization and none can: the client may sign again. */
  | { readonly kind: "refused"; readonly sentence: string }
  /** The money may have moved, or still can. */
  | { readonly kind: "unknown"; readonly sentence?: string };

export type Settlement = {
  /** Sends the transfer of a row whose owner we are. */
  send(row: LedgerRow, owner: string): Promise<SettleResult>;
  /** Looks first whether it has happened, then sends it if it can still be. */
  resume(row: LedgerRow, owner: string): Promise<SettleResult>;
  /** Only looks; null while it may still happen. */
  lookUp(row: LedgerRow, owner: string): Promise<SettleResult | null>;
};

export type SettlementOptions = {
  readonly ledger: PaymentLedger;
  readonly facilitator: PaymentFacilitator;
  readonly chain: SettlementLookup;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

export const PAYMENT_EXPIRED_MESSAGE =
  "The payment expired without being carried out, and nothing was charged; sign a new one.";

/** The nonce is gone as of a block that a reorg can still undo; once it is final, the reason is NONCE_USED. */
const NONCE_USED_NOT_FINAL = "nonce_used_in_unfinalized_block";

/** The nonce is gone for good, and no log of our nodes shows for what. */
export const NONCE_UNTRACED = "nonce_used_not_in_logs";

/** Whether a refusal with this reason, as a row stores it, allows the client to sign again. */
export function allowsNewSignature(reason: string | null): boolean {
  return reason === NONCE_USED || reason === NONCE_USED_NOT_FINAL || isNeverValid(reason);
}

/** Whether the signature may be known to others, because a transfer was sent or may have been. */
type Exposure = "unexposed" | "maybe exposed";

export function createSettlement(options: SettlementOptions): Settlement {
  const { ledger, facilitator, clock, log, limits } = options;
  const unknown = { kind: "unknown" } as const;
  const about = ({ payer, nonce }: LedgerRow) => ({ payer, nonce });

  async function recordTransfer(row: LedgerRow, owner: string, { transaction, block }: TransferFound) {
    if (await ledger.recordSettled(row, owner, transaction, block))
      return { kind: "settled", transaction } as const;
    // Another process has taken over meanwhile and finds the same.
    const now = await ledger.find(row);
    if (now?.state === "settled")
      return { kind: "settled", transaction: now.transaction ?? transaction } as const;
    return unknown;
  }

  /** For good: the evidence is final. */
  async function end(row: LedgerRow, owner: string, state: "refused" | "expired", reason: string) {
    if (row.wasSettled) {
      const { network, asset, payer, nonce, amount, transaction } = row;
      const lost = { network, asset, payer, nonce, amount: amount.toString(), transaction };
      log.error(lost, "A payment that was settled is gone from the chain and can not be repeated");
    }
    await ledger.recordEnd(row, owner, row.wasSettled ? "lost" : state, reason);
  }

  async function conclude(
    row: LedgerRow,
    owner: string,
    evidence: SettlementLookupResult,
  ): Promise<SettleResult | null> {
    if (evidence.kind === "transferred") return recordTransfer(row, owner, evidence);
    if (evidence.kind === "spent") {
      if (evidence.final) await end(row, owner, "refused", NONCE_USED);
      else if (row.wasSettled) await ledger.recordUnknownOutcome(row, owner, null);
      else await ledger.recordEnd(row, owner, "refused", NONCE_USED_NOT_FINAL);
      return { kind: "refused", sentence: rejectionMessage(NONCE_USED) };
    }
    if (evidence.kind === "untraced") {
      // A response was delivered for it: the row stays as it is until a node shows the log.
      if (row.wasSettled) throw new Error("the transfer of a settled payment is not in the logs");
      log.error(about(row), "The nonce of a payment is used, and no log shows for what; it is given up");
      // Not 402: a node that leaves logs out would have the payer pay twice. A retry of the client looks again.
      await ledger.recordEnd(row, owner, "refused", NONCE_UNTRACED);
      return unknown;
    }
    // No later block can hold the transfer, and this one and those below it do not. The time of any other block, or of
    // another node, would say nothing about a transfer in between.
    if (evidence.at.timestamp < row.validBefore) return null;
    // A reorg could still bring it back into a block that is old enough, until such blocks are final.
    if (evidence.final !== null && evidence.final.timestamp >= row.validBefore) {
      await end(row, owner, "expired", "expired");
    } else {
      await ledger.recordUnknownOutcome(row, owner, null);
    }
    return { kind: "refused", sentence: PAYMENT_EXPIRED_MESSAGE };
  }

  async function look(row: LedgerRow, owner: string): Promise<SettleResult | null> {
    try {
      return await conclude(row, owner, await lookUpSettlement(row, options));
    } catch (err) {
      log.warn({ err, ...about(row) }, "A payment could not be looked up");
      await ledger.recordUnknownOutcome(row, owner, null);
      return unknown;
    }
  }

  /** A facilitator's success is a claim: the response is delivered once our own node has the transfer. */
  async function verifySuccess(row: LedgerRow, owner: string, transaction: string): Promise<SettleResult> {
    const hash = transaction.toLowerCase() as Hex;
    const found = await waitForTransfer(row, hash, options).catch((err) => {
      log.warn({ err, ...about(row), transaction }, "The receipt of a transfer could not be read");
      return null;
    });
    if (found !== null) return recordTransfer(row, owner, found);
    // Another transaction than the named one may have moved the money.
    const seen = await look(row, owner);
    if (seen !== null) return seen;
    log.warn(
      { ...about(row), transaction },
      "A facilitator reported a transfer that is not on chain; the response is not delivered",
    );
    await ledger.recordUnknownOutcome(row, owner, transaction);
    return unknown;
  }

  async function attempt(row: LedgerRow, owner: string, exposure: Exposure): Promise<SettleResult> {
    const outcome = await withDeadline({ clock, ms: limits.settleMs, what: "A settlement" }, () =>
      requestSettle(facilitator, row.payload, row.terms),
    ).catch((cause): SettleOutcome => ({ kind: "unknown", transaction: null, cause }));
    if (outcome.kind === "settled") return verifySuccess(row, owner, outcome.transaction);
    const { transaction = null } = outcome;
    if (outcome.kind === "unknown") {
      log.warn({ err: outcome.cause, ...about(row), transaction }, "The outcome of a settlement is unknown");
      await ledger.recordUnknownOutcome(row, owner, transaction);
      return unknown;
    }
    // Anyone who has the signature can carry it out, which makes our own attempt fail; and it is public once it was sent.
    const seen = await look(row, owner);
    if (seen !== null) return seen;
    const { reason } = outcome;
    const isFirst = exposure === "unexposed";
    // "Before anything was sent" is not true of a refusal that names a transaction.
    const isContradicted = isNeverValid(reason) && transaction !== null;
    // The row keeps the reason only of a payment that was never sent before. NONCE_USED ends a row: that takes evidence.
    if (isFirst && reason !== NONCE_USED && !isContradicted)
      await ledger.recordEnd(row, owner, "refused", reason);
    else await ledger.recordUnknownOutcome(row, owner, transaction);
    if (isFirst && isNeverValid(reason) && !isContradicted) {
      return { kind: "refused", sentence: rejectionMessage(reason) };
    }
    return reason === NONCE_USED ? unknown : { ...unknown, sentence: notYet(reason) };
  }

  return {
    send: (row, owner) => attempt(row, owner, "unexposed"),
    lookUp: look,
    async resume(row, owner) {
      const seen = await look(row, owner);
      if (seen !== null) return seen;
      const exposure = row.state === "refused" && isNeverValid(row.reason) ? "unexposed" : "maybe exposed";
      if (await ledger.startSettling(row, owner)) return attempt(row, owner, exposure);
      // It was replaced, or taken over: where we are still the owner, the next request need not wait for the lease.
      await ledger.releaseLease(row, owner);
      return unknown;
    },
  };
}

function notYet(reason: string): string {
  const why = rejectionMessage(reason);
  return `${why} It can still be carried out until it expires: send the same signature again, do not sign a new one before.`;
}
