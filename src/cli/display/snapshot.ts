// A snapshot for people: sums first, then tables, then what to know and the receipt.
import type { PaymentReceipt, PortfolioSnapshot } from "@sextant/client/sextant";
import { formatAmount } from "../../lib/decimal.ts";
import type { Display } from "./display.ts";
import { shortenText, toPlainText } from "./plain-text.ts";
import { formatValue } from "./record.ts";
import { formatSection, type TableColumn } from "./table.ts";

// The guard pays with tokens of six decimals only.
const TOKEN_DECIMALS = 6;
const WARNING_LENGTH_MAX = 400;

const text = (title: string): TableColumn => ({ title });
const amount = (title: string): TableColumn => ({ title, align: "right" });
const money = (title: string): TableColumn => ({ title, align: "right", isWhole: true });

export function formatSnapshot(
  snapshot: PortfolioSnapshot,
  receipt: PaymentReceipt | null,
  display: Display,
): string {
  const { summary } = snapshot;
  const warnings = summary.warnings.map((each) => `  ${shortenText(toPlainText(each), WARNING_LENGTH_MAX)}`);
  return [
    ...formatTotals(snapshot, display),
    ...formatChains(snapshot, display),
    ...formatTokens(snapshot, display),
    ...formatPositions(snapshot, display),
    ...formatActivity(snapshot, display),
    ...(warnings.length === 0 ? [] : ["", display.style("bold", "What to know"), ...warnings]),
    "",
    formatReceipt(receipt),
    "",
  ].join("\n");
}

export function formatReceipt(receipt: PaymentReceipt | null): string {
  if (receipt === null) return "Nothing was paid.";
  const { transaction, network, payer } = receipt;
  const paid = `Paid $${formatAmount(receipt.amount, TOKEN_DECIMALS)} by ${payer} on ${network}`;
  return transaction === null ? `${paid}.` : `${paid} in transaction ${transaction}`;
}

function formatTotals(
  { address, timestamp, provider, summary }: PortfolioSnapshot,
  display: Display,
): string[] {
  const label = (name: string) => display.style("dim", name.padEnd(10));
  const worth = display.style("bold", usd(summary.totalValueUsd));
  return [
    `${label("Wallet")}  ${formatValue(address)}`,
    `${label("Worth")}  ${worth}   stablecoins ${usd(summary.stablecoinValueUsd)}`,
    `${label("Taken")}  ${formatValue(timestamp)} by ${formatValue(provider)}`,
  ];
}

function formatChains({ summary }: PortfolioSnapshot, display: Display): string[] {
  const rows = summary.chains.map(({ chain, tokenCount, pricedTokenCount, totalValueUsd }) => [
    ...[chain, String(tokenCount), String(pricedTokenCount), usd(totalValueUsd)],
  ]);
  return formatSection(
    "Chains",
    [text("chain"), amount("tokens"), amount("priced"), money("worth")],
    rows,
    display,
  );
}

function formatTokens({ tokens }: PortfolioSnapshot, display: Display): string[] {
  const columns = [
    text("token"),
    text("chain"),
    amount("balance"),
    amount("price"),
    money("worth"),
    text(""),
  ];
  const rows = tokens.map((token) => [
    token.symbol ?? token.contract ?? "?",
    token.chain,
    token.balance ?? `${token.rawBalance} units`,
    usd(token.priceUsd),
    usd(token.valueUsd),
    token.spam ? "spam" : "",
  ]);
  return formatSection("Tokens", columns, rows, display);
}

function formatPositions({ positions }: PortfolioSnapshot, display: Display): string[] {
  const columns = [text("position"), text("chain"), text("kind"), text("assets"), money("worth")];
  const rows = positions.map((position) => [
    position.name,
    position.chain,
    position.kind,
    position.assets.map(({ balance, symbol }) => `${balance ?? "?"} ${symbol ?? "?"}`).join(", "),
    usd(position.valueUsd),
  ]);
  return formatSection("Positions", columns, rows, display);
}

function formatActivity({ recentActivity }: PortfolioSnapshot, display: Display): string[] {
  const columns = [text("when"), text("chain"), text("transaction")];
  const rows = recentActivity.map(({ hash, chain, timestamp }) => [
    timestamp ?? "?",
    chain ?? "?",
    hash ?? "?",
  ]);
  return formatSection("Activity", columns, rows, display);
}

function usd(value: string | null): string {
  if (value === null) return "–";
  return toPlainText(value.startsWith("-") ? `-$${value.slice(1)}` : `$${value}`);
}
