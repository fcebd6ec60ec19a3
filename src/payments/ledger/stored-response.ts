// A finished answer as the ledger keeps it: exact bytes, so that whoever asks again gets what was paid for.
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import type { LedgerRow } from "./row.ts";

export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

// Far above any answer of ours; what is larger could not be kept, and so must not be sold.
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const JSON_TYPE = "application/json; charset=utf-8";

export function toStoredResponse({ status, headers = {}, body }: EndpointResponse): StoredResponse {
  const given = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value] as const);
  // Whoever pays is sent the whole answer: "not modified" would be money for nothing.
  const kept = Object.fromEntries(given.filter(([key]) => key !== "etag"));
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body) ?? "");
  if (bytes.length === 0 || bytes.length > BODY_BYTES_MAX) {
    throw new Fault("INTERNAL", "The answer is empty or too large to be sold.");
  }
  return { status, headers: { "content-type": JSON_TYPE, ...kept }, body: bytes };
}

/** The answer with the receipt of its payment. */
export function deliverResponse(
  row: LedgerRow,
  { status, headers, body }: StoredResponse,
  transaction: string,
): EndpointResponse {
  const receipt = {
    success: true,
    transaction,
    network: row.network,
    payer: row.payer,
    amount: row.amount.toString(),
  };
  return {
    status,
    // No cache between us may hand a paid answer to somebody else.
    headers: {
      ...headers,
      "cache-control": "private, no-store",
      "payment-response": encodeX402Header(receipt),
    },
    body,
  };
}
