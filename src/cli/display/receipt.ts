// Describes payments and amounts of money for people.
import type { PaymentReceipt } from "@sextant/client/sextant";
import { formatAmount } from "../../lib/decimal.ts";
import type { Display } from "./display.ts";
import { shortenText, toPlainText } from "./plain-text.ts";

// The guard pays with tokens of six decimals only.
const TOKEN_DECIMALS = 6;
const WARNING_LENGTH_MAX = 400;

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

/** Names before the tables. */
export function formatLabel(name: string, display: Display): string {
  return display.style("dim", name.padEnd(10));
}

export function formatWarnings(warnings: readonly string[], display: Display): readonly string[] {
  if (warnings.length === 0) return [];
  const lines = warnings.map((each) => `  ${shortenText(toPlainText(each), WARNING_LENGTH_MAX)}`);
  return ["", display.style("bold", "What to know"), ...lines];
}
