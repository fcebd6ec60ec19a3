// The one error class of the client: what failed, whether it was charged, and what to do next.
import { SERVICE_CODES } from "./generated/service-codes.ts";

type ServiceCode = keyof typeof SERVICE_CODES;

/** Failures that only a client can have; docs/client.md has a row for each. */
export const CLIENT_CODES = {
  /** No connection, or it broke. */
  UNREACHABLE: true,
  /** The response is not what the service sends: no JSON, too large, or of another form. */
  RESPONSE_INVALID: false,
  /** The server redirects the request; redirects are never followed. */
  REDIRECTED: false,
  /** The caller ended the request. */
  ABORTED: true,
  /** The payment terms are malformed or are not the ones that the guard allows; nothing was signed. */
  TERMS_REJECTED: false,
  /** The payment would exceed a limit of the guard; nothing was signed. */
  LIMIT_EXCEEDED: false,
  /** The account did not sign. */
  SIGNING_FAILED: false,
  /** The journal cannot be written or locked; nothing was signed. */
  JOURNAL_UNAVAILABLE: true,
  /** The journal has a line that the client did not write, or its file was moved; nothing was signed. */
  JOURNAL_INVALID: false,
  /** The client is not configured for this action. */
  NOT_CONFIGURED: false,
} as const;

export type ErrorCode = ServiceCode | keyof typeof CLIENT_CODES;

/** Whether money moved: `unknown` while a signature that left this process can still be charged or may have been. */
export type Charged = "no" | "once" | "unknown";

/**
 * The next step. `same-signature`: call again; the client sends the same signature, or the same free request.
 * `sign-again`: call again; the old signature is over and the client makes a new one. `never`: change the request.
 */
export type Retry = "same-signature" | "sign-again" | "never";

type ErrorDetails = {
  readonly charged?: Charged;
  readonly retry?: Retry;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly requestId?: string | null;
  readonly payment?: string | null;
  readonly cause?: unknown;
};

/**
 * @example
 * ```ts
 * try {
 *   await sextant.getPortfolio({ address });
 * } catch (error) {
 *   if (!(error instanceof SextantError)) throw error;
 *   if (error.retry === "same-signature") setTimeout(again, error.retryAfterMs ?? 2_000);
 * }
 * ```
 */
export class SextantError extends Error {
  override readonly name = "SextantError";
  readonly code: ErrorCode;
  readonly charged: Charged;
  readonly retry: Retry;
  /** Status of the HTTP response; null without one. */
  readonly status: number | null;
  /** How long the service wants to be left alone. */
  readonly retryAfterMs: number | null;
  /** The id by which the operator of the service finds the request. */
  readonly requestId: string | null;
  /** Id of the payment in the journal. */
  readonly payment: string | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.charged = details.charged ?? "no";
    this.retry = details.retry ?? (isRetryable(code) ? "same-signature" : "never");
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.requestId = details.requestId ?? null;
    this.payment = details.payment ?? null;
  }

  /** The same failure seen from a payment: what it means for the money, and what to do. */
  forPayment(payment: string, charged: Charged, retry: Retry, advice?: string): SextantError {
    const { status, retryAfterMs, requestId } = this;
    return new SextantError(this.code, advice === undefined ? this.message : `${this.message} ${advice}`, {
      charged,
      retry,
      status,
      retryAfterMs,
      requestId,
      payment,
      cause: this,
    });
  }
}

export function isServiceCode(text: string): text is ServiceCode {
  return Object.hasOwn(SERVICE_CODES, text);
}

function isRetryable(code: ErrorCode): boolean {
  return isServiceCode(code) ? SERVICE_CODES[code] : CLIENT_CODES[code];
}
