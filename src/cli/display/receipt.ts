// Describes payments and amounts of money for people.
import type { PaymentReceipt } from "@sextant/client/sextant";
import { formatAmount } from "../../lib/decimal.ts";
import { toPlainText } from "./plain-text.ts";

// The guard pays with tokens of six decimals only.
export const TOKEN_DECIMALS = 6;

export function formatReceipt(receipt: PaymentReceipt | null): string {
  if (receipt === null) return "Nothing was paid.";
  const { transaction, network, payer } = receipt;
  const paid = `Paid $${formatAmount(receipt.amount, TOKEN_DECIMALS)} by ${payer} on ${network}`;
  return transaction === null ? `${paid}.` : `${paid} in transaction ${transaction}`;
}

/** A dash if it is unknown. */
export function formatDollars(value: string | null): string {
  if (value === null) return "–";
  return toPlainText(value.startsWith("-") ? `-$${value.slice(1)}` : `$${value}`);
}
