// The request that a payment was signed for, by the resource that x402 clients copy from the terms.
import { readQuery } from "../../http/internal-requests.ts";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, parseStrictJson } from "../../lib/json.ts";

/** The parameters of the request; null if the payment does not say it. */
export function readPaidResource(signature: string): ReadonlyMap<string, string> | null {
  try {
    const payment = parseStrictJson(Buffer.from(signature, "base64"), "The payment");
    const resource = isJsonObject(payment) ? payment.resource : null;
    return readQuery(isJsonObject(resource) ? String(resource.url) : "");
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
