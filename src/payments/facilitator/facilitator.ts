// Whoever checks payments and carries them out, ours or somebody else's, and what its words mean for the money.
import type { FacilitatorClient } from "@x402/core/server";
import { type PaymentPayload, type PaymentRequirements, SettleError, VerifyError } from "@x402/core/types";

// What a facilitator throws when it can not tell: never a verdict about the payment.

export class FacilitatorUnavailableError extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`The facilitator could not tell: ${what}`, options);
    this.name = "FacilitatorTrouble";
  }
}

export type PaymentFacilitator = Pick<FacilitatorClient, "verify" | "settle" | "getSupported">;

export type VerifyOutcome =
  | { readonly kind: "valid" }
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody could say: nothing is known about the payment, and nothing was charged. */
  | { readonly kind: "trouble"; readonly cause: unknown };

export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: string }
  /** It says that it did not happen and will not; the chain is asked before anybody believes it. */
  | { readonly kind: "refused"; readonly reason: string; readonly transaction?: string }
  /** It may have happened, or may still. */
  | { readonly kind: "unknown"; readonly transaction: string | null; readonly cause: unknown };

export const NONCE_USED = "invalid_exact_evm_nonce_already_used";
/** Our own word for what this facilitator does not do, whoever asks. */
export const NOT_SERVED = "payment_not_served";
/** A transfer of this payer reverted in a block, at our cost. */
export const PAYER_REJECTED = "payer_refused_after_revert";
/** Transfers of contract accounts have reverted so often that none is carried out at the moment. */
export const CONTRACT_PAYERS_PAUSED = "contract_payers_paused";
export const TRANSACTION_FAILED = "invalid_exact_evm_transaction_failed";

export const SIMULATION_FAILED = "invalid_exact_evm_transaction_simulation_failed";

/** Said before anything is sent, of what the token never takes: neither time nor another transfer can be the cause. */
const NEVER_VALID: ReadonlySet<string> = new Set([
  "invalid_exact_evm_signature",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_failed_to_parse_signature",
  "eip6492_factory_not_allowed",
]);

// Said before anything is sent. Whatever is not listed may have been said after it.
const REFUSALS: ReadonlySet<string> = new Set([
  ...NEVER_VALID,
  NONCE_USED,
  NOT_SERVED,
  PAYER_REJECTED,
  CONTRACT_PAYERS_PAUSED,
  SIMULATION_FAILED,
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_insufficient_balance",
]);

export function isNeverValid(reason: string | null): boolean {
  return reason !== null && NEVER_VALID.has(reason);
}

export async function requestVerify(
  facilitator: PaymentFacilitator,
  payload: PaymentPayload,
  terms: PaymentRequirements,
): Promise<VerifyOutcome> {
  try {
    const { isValid, invalidReason } = await facilitator.verify(payload, terms);
    return isValid ? { kind: "valid" } : { kind: "refused", reason: invalidReason ?? "unknown" };
  } catch (cause) {
    // A refusal may come with a status of its own; one of the 500s is no verdict.
    if (cause instanceof VerifyError && cause.statusCode < 500 && cause.invalidReason !== undefined) {
      return { kind: "refused", reason: cause.invalidReason };
    }
    return { kind: "trouble", cause };
  }
}

export async function requestSettle(
  facilitator: PaymentFacilitator,
  payload: PaymentPayload,
  terms: PaymentRequirements,
): Promise<SettleOutcome> {
  try {
    const { success, transaction, errorReason } = await facilitator.settle(payload, terms);
    if (success && isTransaction(transaction)) return { kind: "settled", transaction };
    return failed(
      errorReason,
      transaction,
      new FacilitatorUnavailableError(errorReason ?? "no reason was given"),
    );
  } catch (cause) {
    if (cause instanceof SettleError) return failed(cause.errorReason, cause.transaction, cause);
    return { kind: "unknown", transaction: null, cause };
  }
}

function failed(reason: string | undefined, transaction: string, cause: unknown): SettleOutcome {
  const hash = isTransaction(transaction) ? transaction : null;
  // With its hash it was mined and reverted; without one, nobody knows what became of it.
  const reverted = reason === TRANSACTION_FAILED && hash !== null;
  if (reason !== undefined && (reverted || REFUSALS.has(reason)))
    return hash === null ? { kind: "refused", reason } : { kind: "refused", reason, transaction: hash };
  return { kind: "unknown", transaction: hash, cause };
}

function isTransaction(text: unknown): text is string {
  return typeof text === "string" && /^0x[0-9a-fA-F]{64}$/.test(text);
}

// A map, because the reason is anybody's word and an object knows more words than these.
const SENTENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    [NONCE_USED]: "The payment has been used or cancelled on chain; sign a new one.",
    invalid_exact_evm_signature: "The payment is not signed by its payer.",
    invalid_exact_evm_insufficient_balance: "The payer's balance does not cover the payment.",
    invalid_exact_evm_payload_authorization_valid_before:
      "The payment has expired, or would before it is carried out.",
    invalid_exact_evm_payload_authorization_valid_after: "The payment is not valid yet.",
    eip6492_factory_not_allowed: "The payer's contract account is not deployed; deploy it first.",
    [PAYER_REJECTED]:
      "An earlier transfer of this payer was reverted when it was mined; payments from this account are rejected for a day.",
    [CONTRACT_PAYERS_PAUSED]:
      "Payments from contract accounts are paused for up to an hour; pay from an account with a plain key, or later.",
    [TRANSACTION_FAILED]: "The transfer was reverted by the token.",
  }),
);

/** A reason in words; what we have no words for is shown as the code it is, if it looks like one. */
export function rejectionMessage(reason: string): string {
  const code = /^[a-z0-9_]{1,80}$/.test(reason) ? reason : "unknown";
  return SENTENCES.get(reason) ?? `The payment was not accepted (${code}).`;
}
