// The request that a payment was signed for, as clients copy it from the terms.
import { readQuery } from "../../http/internal-requests.ts";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, parseStrictJson } from "../../lib/json.ts";
import { readChallengedQuery, readCredential } from "../../payments/mpp/credential.ts";
import type { RequestHead } from "../../schema/endpoint.ts";

/**
 * The parameters of the request: null if a payment of x402 does not say it; undefined without a payment, and for a
 * credential whose challenge has no room for it.
 */
export function readPaidResource(
  headers: RequestHead["headers"],
): ReadonlyMap<string, string> | null | undefined {
  const { "payment-signature": signature } = headers;
  const credential = readCredential(headers);
  try {
    if (signature !== undefined) return readQuery(readResourceUrl(signature));
    const query = credential === undefined ? null : readChallengedQuery(credential);
    return query === null ? undefined : readQuery(`?${query}`);
  } catch (error) {
    if (error instanceof Fault) return signature === undefined ? undefined : null;
    throw error;
  }
}

function readResourceUrl(signature: string): string {
  const payment = parseStrictJson(Buffer.from(signature, "base64"), "The payment");
  const resource = isJsonObject(payment) ? payment.resource : null;
  return isJsonObject(resource) ? String(resource.url) : "";
}
