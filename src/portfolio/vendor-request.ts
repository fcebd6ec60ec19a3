// Requests to vendors over the HTTP client: JSON with exact numbers, failures by what a repeated request would do.

import { HttpClientError, type HttpClientRequest, sendJsonRequest } from "../lib/http-client.ts";
import { parseExactJson } from "../lib/json.ts";

/** transient: the same request may succeed later. permanent: it will not. */
type VendorFailure = "rate-limited" | "transient" | "permanent";

export class VendorError extends Error {
  override readonly name = "VendorError";
  readonly kind: VendorFailure;
  readonly retryAfterMs: number | null;

  constructor(
    failure: VendorFailure,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = failure;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The response with its numbers as text. Throws a VendorError, or the signal's own reason when the caller aborts. */
export async function sendVendorRequest(
  request: Omit<HttpClientRequest, "signals" | "body"> & { readonly body?: unknown },
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const { body, ...options } = request;
  const { status, retryAfterMs, payload } = await sendJsonRequest(
    { ...options, signals: [signal], ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    parseExactJson,
  ).catch((error: unknown) => {
    throw error instanceof HttpClientError ? vendorErrorOf(error) : error;
  });
  if (status < 200 || status > 299) throw statusError(status, retryAfterMs);
  if (payload === undefined) throw new VendorError("transient", "The response is not JSON.");
  return payload;
}

/** Milliseconds since 1970 of a time as text; null for anything else. */
export function parseVendorTime(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

/** A number of at most 256 bits in hex; null for anything else. */
export function parseVendorQuantity(value: unknown): bigint | null {
  return typeof value === "string" && QUANTITY.test(value) ? BigInt(value) : null;
}

function vendorErrorOf(error: HttpClientError): VendorError {
  const { reason, status, message, cause } = error;
  if (status !== null && (status < 200 || status > 299)) return statusError(status, null);
  // A repeated request would get the same response.
  if (reason === "response-too-large") return new VendorError("permanent", sentence(message));
  if (reason === "timeout") return new VendorError("transient", sentence(message));
  return new VendorError("transient", "The connection failed.", { cause });
}

function statusError(status: number, retryAfterMs: number | null): VendorError {
  const message = `The response has HTTP status ${status}.`;
  if (status === 429) return new VendorError("rate-limited", message, { retryAfterMs });
  return new VendorError(status === 408 || status >= 500 ? "transient" : "permanent", message);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
