// Why a payment is rejected: the codes of the x402 library and our own, what each implies, and what clients read.
import {
  CLAIM_SIMULATION_FAILED,
  DEPOSIT_FAILED,
  DEPOSIT_SIMULATION_FAILED,
} from "./channels/channel-terms.ts";

export const NONCE_USED = "invalid_exact_evm_nonce_already_used";
/** The payment is outside the rules of this facilitator. */
export const NOT_SERVED = "payment_not_served";
/** A transfer of this payer reverted in a block, at our cost. */
export const PAYER_REJECTED = "payer_refused_after_revert";
/** Too many transfers of contract accounts have reverted; none is sent for such a new one for the moment. */
export const CONTRACT_PAYERS_PAUSED = "contract_payers_paused";
/** An account has made as many deposits within an hour as the facilitator pays for. */
export const DEPOSITS_USED_UP = "deposits_of_payer_used_up";
export const TRANSACTION_FAILED = "invalid_exact_evm_transaction_failed";
export const SIMULATION_FAILED = "invalid_exact_evm_transaction_simulation_failed";
/** Valid by our clock and too early by the chain's, whose newest block is older. */
export const NOT_VALID_YET_ON_CHAIN = "authorization_not_valid_yet_on_chain";
/** Valid by our clock and too late by the chain's. */
export const EXPIRED_ON_CHAIN = "authorization_expired_on_chain";
/** Too late for a transaction of ours, or of the facilitator. */
export const EXPIRES_SOON = "invalid_exact_evm_payload_authorization_valid_before";
export const INSUFFICIENT_BALANCE = "invalid_exact_evm_insufficient_balance";
export const WRONG_SIGNATURE = "invalid_exact_evm_signature";
/** The signature is of a contract account (ERC-6492), and the payer has no code. */
export const ACCOUNT_NOT_DEPLOYED = "eip6492_factory_not_allowed";

/** The nonce is used as of a block that a reorg can still undo; once that block is final, the reason is NONCE_USED. */
export const NONCE_USED_NOT_FINAL = "nonce_used_in_unfinalized_block";
/** The nonce is used for good, and no log of our nodes shows for what. */
export const NONCE_UNTRACED = "nonce_used_not_in_logs";

type RejectionReason = {
  /**
   * "never": the token can never accept the payment; neither time nor another transfer is the cause.
   * "before-send": the facilitator decides it before it sends anything.
   * "any-time": it may follow a broadcast.
   */
  readonly decided: "never" | "before-send" | "any-time";
  /** The claim about a payment with an unused nonce, which another node can confirm; "rule" is one of the facilitator. */
  readonly cause?: "too late" | "too early" | "too poor" | "rule";
  readonly message?: string;
};

// A map and not an object: the reason is text from outside, and an object has more keys than these.
const REASONS: ReadonlyMap<string, RejectionReason> = new Map(
  Object.entries<RejectionReason>({
    [WRONG_SIGNATURE]: { decided: "never", message: "The payment is not signed by its payer." },
    invalid_exact_evm_payload_authorization_value_mismatch: { decided: "never" },
    invalid_exact_evm_authorization_value: { decided: "never" },
    invalid_exact_evm_recipient_mismatch: { decided: "never" },
    invalid_exact_evm_network_mismatch: { decided: "never" },
    invalid_exact_evm_scheme: { decided: "never" },
    invalid_exact_evm_token_name_mismatch: { decided: "never" },
    invalid_exact_evm_token_version_mismatch: { decided: "never" },
    invalid_exact_evm_eip3009_not_supported: { decided: "never" },
    invalid_exact_evm_failed_to_parse_signature: { decided: "never" },
    [ACCOUNT_NOT_DEPLOYED]: {
      decided: "never",
      message: "The payer's contract account is not deployed; deploy it first.",
    },
    [NONCE_USED]: {
      decided: "before-send",
      message: "The payment has been used or cancelled on chain; sign a new one.",
    },
    [NOT_SERVED]: { decided: "before-send", cause: "rule" },
    [PAYER_REJECTED]: {
      decided: "before-send",
      cause: "rule",
      message:
        "An earlier transfer of this payer was reverted when it was mined; payments from this account are rejected for a day.",
    },
    [CONTRACT_PAYERS_PAUSED]: {
      decided: "before-send",
      cause: "rule",
      message:
        "Payments from new contract accounts are paused for up to an hour; pay from an account with a plain key, from one that has paid before, or later.",
    },
    [SIMULATION_FAILED]: {
      decided: "before-send",
      message:
        "The token rejects the transfer when it is simulated; check the payer's balance, the times and the nonce of the payment, and whether the token is paused.",
    },
    [NOT_VALID_YET_ON_CHAIN]: {
      decided: "before-send",
      cause: "too early",
      message:
        "The payment is not valid yet on chain: the newest block is not later than its validAfter. Wait for a block, or sign with an earlier validAfter.",
    },
    [EXPIRED_ON_CHAIN]: {
      decided: "before-send",
      cause: "too late",
      message:
        "The payment has expired on chain: the newest block is not earlier than its validBefore. Sign a new one.",
    },
    [EXPIRES_SOON]: {
      decided: "before-send",
      cause: "too late",
      message: "The payment has expired, or would before it is carried out.",
    },
    invalid_exact_evm_payload_authorization_valid_after: {
      decided: "before-send",
      cause: "too early",
      message: "The payment is not valid yet.",
    },
    [INSUFFICIENT_BALANCE]: {
      decided: "before-send",
      cause: "too poor",
      message: "The payer's balance does not cover the payment.",
    },
    [DEPOSIT_SIMULATION_FAILED]: {
      decided: "before-send",
      message:
        "The deposit would fail: check the payer's balance, and the times and the nonce of its authorization.",
    },
    [CLAIM_SIMULATION_FAILED]: { decided: "before-send" },
    [DEPOSITS_USED_UP]: {
      decided: "before-send",
      cause: "rule",
      message:
        "The account has made as many deposits within an hour as this facilitator pays for; wait, or send it yourself.",
    },
    [DEPOSIT_FAILED]: { decided: "before-send", message: "The deposit was reverted." },
    [TRANSACTION_FAILED]: { decided: "any-time", message: "The transfer was reverted by the token." },
  }),
);

export function rejectionCause(reason: string | null): RejectionReason["cause"] | null {
  return (reason !== null && REASONS.get(reason)?.cause) || null;
}

/** For a rejected payment whose transfer can still happen, or may have. */
export function retryableMessage(reason: string): string {
  return `${rejectionMessage(reason)} It can still be carried out until it expires: send the same signature again, do not sign a new one before.`;
}

export function isNeverValid(reason: string | null): boolean {
  return reason !== null && REASONS.get(reason)?.decided === "never";
}

/** Whether a facilitator gives this reason only before it sends anything; an unknown reason may follow a broadcast. */
export function isDecidedBeforeSend(reason: string): boolean {
  const decided = REASONS.get(reason)?.decided;
  return decided === "never" || decided === "before-send";
}

/** Whether a rejection with this reason, as a row stores it, allows the client to sign again. */
export function allowsNewSignature(reason: string | null): boolean {
  return reason === NONCE_USED || reason === NONCE_USED_NOT_FINAL;
}

/** The reason as a sentence; without one, the code itself if it looks like a code. */
export function rejectionMessage(reason: string): string {
  const code = /^[a-z0-9_]{1,80}$/.test(reason) ? reason : "unknown";
  return REASONS.get(reason)?.message ?? `The payment was not accepted (${code}).`;
}
