// A snapshot for people: sums first, then tables, then what to know.
import type { PortfolioSnapshot } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import { formatLabel, formatUsd, formatWarnings } from "./receipt.ts";
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
    ...formatActivity(snapshot, display),
    ...formatWarnings(snapshot.summary.warnings, display),
  ];
}

function formatTotals(
  { address, timestamp, provider, summary }: PortfolioSnapshot,
  display: Display,
): string[] {
  const label = (name: string) => formatLabel(name, display);
  const worth = display.style("bold", formatUsd(summary.totalValueUsd));
  return [
    `${label("Wallet")}  ${formatValue(address)}`,
    `${label("Worth")}  ${worth}   stablecoins ${formatUsd(summary.stablecoinValueUsd)}`,
    `${label("Taken")}  ${formatValue(timestamp)} by ${formatValue(provider)}`,
  ];
}

function formatChains({ summary }: PortfolioSnapshot, display: Display): string[] {
  const rows = summary.chains.map(({ chain, tokenCount, pricedTokenCount, totalValueUsd }) => [
    ...[chain, String(tokenCount), String(pricedTokenCount), formatUsd(totalValueUsd)],
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
    formatUsd(token.priceUsd),
    formatUsd(token.valueUsd),
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
    formatUsd(position.valueUsd),
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
