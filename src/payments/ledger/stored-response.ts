// A response as the ledger stores it: exact bytes, so that a retry gets what was paid for.
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import type { LedgerRow } from "./row.ts";

export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

// Far above any response of ours. A larger one could not be stored, so it must not be sold.
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const JSON_TYPE = "application/json; charset=utf-8";

export function toStoredResponse({ status, headers = {}, body }: EndpointResponse): StoredResponse {
  const lowerCased = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value] as const);
  // A paid response is never a 304, so it needs no validator.
  const withoutEtag = Object.fromEntries(lowerCased.filter(([key]) => key !== "etag"));
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body) ?? "");
  if (bytes.length === 0 || bytes.length > BODY_BYTES_MAX) {
    throw new Fault("INTERNAL", "The response is empty or too large to be sold.");
  }
  return { status, headers: { "content-type": JSON_TYPE, ...withoutEtag }, body: bytes };
}

/** The response with the receipt of its payment. */
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
    // No cache may serve a paid response to another client.
    headers: {
      ...headers,
      "cache-control": "private, no-store",
      "payment-response": encodeX402Header(receipt),
    },
    body,
  };
}
