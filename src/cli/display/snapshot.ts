// A snapshot for people: sums first, then tables, then what to know.
import type { PortfolioSnapshot } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import { formatDollars, formatLabel, formatWarnings } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection, type TableColumn } from "./table.ts";

const text = (title: string): TableColumn => ({ title });
const amount = (title: string): TableColumn => ({ title, align: "right" });
const money = (title: string): TableColumn => ({ title, align: "right", isWhole: true });

export function formatSnapshot(snapshot: PortfolioSnapshot, display: Display): readonly string[] {
  return [
    ...formatTotals(snapshot, display),
    ...formatChains(snapshot, display),
    ...formatTokens(snapshot, display),
    ...formatPositions(snapshot, display),
    ...formatLoans(snapshot, display),
    ...formatActivity(snapshot, display),
    ...formatWarnings(snapshot.summary.warnings, display),
  ];
}

function formatTotals(
  { address, timestamp, provider, summary }: PortfolioSnapshot,
  display: Display,
): string[] {
  const label = (name: string) => formatLabel(name, display);
  const worth = display.style("bold", formatDollars(summary.totalValueUsd));
  return [
    `${label("Wallet")}  ${formatValue(address)}`,
    `${label("Worth")}  ${worth}   stablecoins ${formatDollars(summary.stablecoinValueUsd)}`,
    `${label("Taken")}  ${formatValue(timestamp)} by ${formatValue(provider)}`,
  ];
}

function formatChains({ summary }: PortfolioSnapshot, display: Display): string[] {
  const rows = summary.chains.map(({ chain, tokenCount, pricedTokenCount, totalValueUsd }) => [
    ...[chain, String(tokenCount), String(pricedTokenCount), formatDollars(totalValueUsd)],
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
    formatDollars(token.priceUsd),
    formatDollars(token.valueUsd),
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
    formatDollars(position.valueUsd),
  ]);
  return formatSection("Positions", columns, rows, display);
}

/** Accounts with a debt, and those whose debt is unknown. */
function formatLoans({ health }: PortfolioSnapshot, display: Display): string[] {
  const columns = [
    ...[text("loan"), text("chain"), money("collateral"), money("owed")],
    ...[amount("health factor"), amount("may lose"), text("")],
  ];
  const rows = health
    .filter(({ debtUsd, loanToValue }) => debtUsd !== "0" && loanToValue !== "0")
    .map((loan) => [
      ...[loan.name, loan.chain, formatDollars(loan.collateralUsd), formatDollars(loan.debtUsd)],
      loan.healthFactor === null ? "–" : cutFactor(loan.healthFactor),
      loan.distanceToLiquidation === null ? "–" : cutPercent(loan.distanceToLiquidation),
      loan.liquidatable ? "can be liquidated now" : "",
    ]);
  return formatSection("Loans", columns, rows, display);
}

/** Cut, not rounded: rounded up, a loan would look safer than it is. */
function cutFactor(factor: string): string {
  return /^-?\d+(?:\.\d{1,2})?/.exec(factor)?.[0] ?? factor;
}

/** A part of one as a percentage with one decimal, cut too. */
function cutPercent(part: string): string {
  const [, whole, fraction = ""] = /^(\d+)\.?(\d*)$/.exec(part) ?? [];
  if (whole === undefined) return part;
  const digits = fraction.padEnd(3, "0");
  return `${BigInt(whole + digits.slice(0, 2))}.${digits.charAt(2)} %`;
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
