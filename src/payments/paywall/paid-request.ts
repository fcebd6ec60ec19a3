// A paid request: the resource it pays for, its handler, and the outcomes that are counted.
import { createHash } from "node:crypto";
import type { EndpointResponse } from "../../schema/endpoint.ts";

/** A payment is bound to this: one request, however its query was ordered or encoded. */
export type PaidResource = {
  readonly method: string;
  readonly path: string;
  /** Validated, only what determines the response; the order means nothing. */
  readonly query: Readonly<Record<string, string>>;
};

// Longer than any query of ours. People see the URL, and the header that carries it must stay small.
const URL_LENGTH_MAX = 2_000;

/** Equal for requests with the same response: HEAD costs what GET costs, and the same payment pays for it. */
export function resourceFingerprint({ method, path, query }: PaidResource): string {
  const verb = method.toUpperCase() === "HEAD" ? "GET" : method.toUpperCase();
  return createHash("sha256")
    .update(JSON.stringify([verb, path, canonicalQuery(query)]))
    .digest("hex");
}

export function resourceUrl(origin: string, { path, query }: PaidResource): string {
  const text = canonicalQuery(query);
  const url = origin + path + (text === "" ? "" : `?${text}`);
  return url.length > URL_LENGTH_MAX ? origin + path : url;
}

function canonicalQuery(query: PaidResource["query"]): string {
  return Object.entries(query)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join("&");
}

export type PaidRequest = {
  readonly resource: PaidResource;
  /** The PAYMENT-SIGNATURE header. */
  readonly signature: string | undefined;
  /** As limits per client count it. */
  readonly client: string;
};

/** Produces the response. It must end when the signal aborts, because the payment is about to expire. */
export type PaidHandler = (signal: AbortSignal) => Promise<EndpointResponse>;

/** The values of the label `outcome` of sextant_payments_total. */
export type PaymentOutcome =
  | "challenged"
  | "refused"
  | "conflict"
  | "limited"
  | "failed"
  | "trouble"
  | "pending"
  | "settled"
  | "replayed";
