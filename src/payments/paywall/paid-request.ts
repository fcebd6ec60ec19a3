// The words of the gate: what is asked, what answers it, and what is counted.
import { createHash } from "node:crypto";
import type { EndpointResponse } from "../../schema/endpoint.ts";

// What a payment is for: one request, however its query was ordered or encoded.

export type PaidResource = {
  readonly method: string;
  readonly path: string;
  /** Only what decides the answer, already checked; the order means nothing. */
  readonly query: Readonly<Record<string, string>>;
};

// Longer than any query of ours; the address is shown to people, and the header that carries it must stay small.
const URL_LENGTH_MAX = 2_000;

/** The same for requests that must get the same answer: HEAD costs what GET costs and is paid for by the same payment. */
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
  /** The PAYMENT-SIGNATURE header; undefined where there is none. */
  readonly signature: string | undefined;
};

/** Makes the answer. It must end when the signal aborts: by then the payment is about to expire. */
export type PaidHandler = (signal: AbortSignal) => Promise<EndpointResponse>;

/** What became of a request, for whoever counts. */
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
