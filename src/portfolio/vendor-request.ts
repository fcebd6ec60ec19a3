// Requests to vendors over the HTTP client: JSON with exact numbers, failures by what a repeated request would do.

import { parseExactJson } from "../lib/exact-json.ts";
import { HttpClientError, type HttpClientRequest, sendJsonRequest } from "../lib/http-client.ts";

/** limited: try again later. unreliable: the same request may work next time. refused: it will not. */
type VendorFailure = "limited" | "unreliable" | "refused";

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
  const { body, ...rest } = request;
  const { status, retryAfterMs, payload } = await sendJsonRequest(
    { ...rest, signals: [signal], ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    parseExactJson,
  ).catch((error: unknown) => {
    throw error instanceof HttpClientError ? vendorErrorOf(error) : error;
  });
  if (status < 200 || status > 299) throw statusError(status, retryAfterMs);
  if (payload === undefined) throw new VendorError("unreliable", "The response is not JSON.");
  return payload;
}

function vendorErrorOf(error: HttpClientError): VendorError {
  const { reason, status, message, cause } = error;
  if (status !== null && (status < 200 || status > 299)) return statusError(status, null);
  // A repeated request would get the same response.
  if (reason === "response-too-large") return new VendorError("refused", sentence(message));
  if (reason === "timeout") return new VendorError("unreliable", sentence(message));
  return new VendorError("unreliable", "The connection failed.", { cause });
}

function statusError(status: number, retryAfterMs: number | null): VendorError {
  const message = `The response has HTTP status ${status}.`;
  if (status === 429) return new VendorError("limited", message, { retryAfterMs });
  return new VendorError(status === 408 || status >= 500 ? "unreliable" : "refused", message);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
