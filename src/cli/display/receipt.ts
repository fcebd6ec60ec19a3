// Describes payments and amounts of money for people.
import type { PaymentReceipt } from "@sextant/client/sextant";
import { formatAmount } from "../../lib/decimal.ts";
import { formatPrice, formatQuantity, formatUsd } from "../../web/pay-page/amounts.ts";
import { toPlainText } from "./plain-text.ts";

// The guard pays with tokens of six decimals only.
const TOKEN_DECIMALS = 6;

// A service may send anything.
const DECIMAL = /^-?\d{1,80}(?:\.\d{1,80})?$/;

export function formatReceipt(receipt: PaymentReceipt | null): string {
  if (receipt === null) return "Nothing was paid.";
  const { transaction, network, payer, channel } = receipt;
  const paid = `Paid ${formatPaidUnits(receipt.amount)} by ${payer} on ${network}`;
  if (transaction !== null) return `${paid} in transaction ${transaction}`;
  return channel === null ? `${paid}.` : `${paid} by channel ${channel}`;
}

/** Describes all that a command paid for its requests; null if it paid nothing. */
export function formatReceipts(receipts: readonly PaymentReceipt[]): string | null {
  const [first, ...others] = receipts;
  if (first === undefined) return null;
  if (others.length === 0) return formatReceipt(first);
  const sum = receipts.reduce((all, { amount }) => all + amount, 0n);
  const channels = [...new Set(receipts.map(({ channel }) => channel))].join(", ");
  const { payer, network } = first;
  return `Paid ${formatPaidUnits(sum)} for ${receipts.length} requests by ${payer} on ${network} by channel ${channels}`;
}

/** Exact: a payment is never rounded. */
export function formatPaidUnits(units: Parameters<typeof formatAmount>[0]): string {
  return formatExactDollars(formatAmount(units, TOKEN_DECIMALS));
}

/** All decimals, and at least those of cents. */
export function formatExactDollars(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(2, "0")}`;
}

/** A dash if it is unknown. */
export function formatDollars(value: string | null): string {
  if (value === null) return "–";
  return DECIMAL.test(value) ? formatUsd(value) : toPlainText(value);
}

/** A price per unit, which may be far below a cent. */
export function formatUnitPrice(value: string | null): string {
  return value === null || DECIMAL.test(value) ? formatPrice(value) : toPlainText(value);
}

/** An amount of a token with its symbol. */
export function formatTokenAmount(amount: string | null, symbol: string | null): string {
  const quantity = amount === null || DECIMAL.test(amount) ? formatQuantity(amount) : amount;
  return toPlainText(`${quantity} ${symbol ?? "?"}`);
}
