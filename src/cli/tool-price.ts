// The price of the paid tools of `sextant mcp`, as their list and their details name it.
import type { GuardOptions } from "@sextant/client/sextant";
import type { ToolPrice } from "../mcp/tool-declaration.ts";
import { CALLER_PAYS } from "../portfolio/http/tool-guide.ts";

/**
 * The same call within this time is the same purchase: a caller that lost the response calls again, which looks
 * exactly like a wish for news. Callers give up after a minute or few; a snapshot is minutes old in any case when it is read.
 */
export const PURCHASE_MS = 10 * 60_000;

/** The price itself is the service's; this process only knows who pays, and how much at most. */
export function describeToolPrice(isPayer: boolean, { perPayment }: GuardOptions): ToolPrice {
  if (!isPayer) {
    return {
      sentence: "A call costs money, by x402.",
      details: CALLER_PAYS,
      terms: {},
      isPaidByCaller: true,
    };
  }
  const max = String(perPayment);
  return {
    sentence: `A call costs money, which this server pays with x402: at most $${max}.`,
    details: `It pays within the limits that its user has set. The same call within ${PURCHASE_MS / 60_000} minutes returns the same snapshot and is free.`,
    terms: { priceUsdMax: max },
    isPaidByCaller: false,
  };
}
