// A snapshot as a terminal shows it: sums first, then tables, then doubts and the receipt.
import type { BoughtSnapshot } from "./buy-snapshot.ts";

type Row = readonly string[];

const NAME_LENGTH_MAX = 28;

export function formatSnapshot({ snapshot, receipt }: BoughtSnapshot): string {
  const { address, timestamp, provider, summary, tokens, positions, recentActivity } = snapshot;
  return [
    `Wallet      ${address}`,
    `Worth       ${usd(summary.totalValueUsd)}   stablecoins ${usd(summary.stablecoinValueUsd)}`,
    `Taken       ${timestamp} by ${plain(provider)}`,
    ...section(
      "Chains",
      ["chain", "tokens", "priced", "worth"],
      summary.chains.map((chain) => [
        chain.chain,
        String(chain.tokenCount),
        String(chain.pricedTokenCount),
        usd(chain.totalValueUsd),
      ]),
    ),
    ...section(
      "Tokens",
      ["token", "chain", "balance", "price", "worth", ""],
      tokens.map((token) => [
        plain(token.symbol ?? token.contract ?? "?"),
        token.chain,
        token.balance ?? `${token.rawBalance} units`,
        usd(token.priceUsd),
        usd(token.valueUsd),
        token.spam ? "spam" : "",
      ]),
    ),
    ...section(
      "Positions",
      ["position", "chain", "kind", "assets", "worth"],
      positions.map((position) => [
        plain(position.name),
        position.chain,
        position.kind,
        position.assets.map(({ balance, symbol }) => `${balance ?? "?"} ${plain(symbol ?? "?")}`).join(", "),
        usd(position.valueUsd),
      ]),
    ),
    ...section(
      "Activity",
      ["transaction", "chain", "when"],
      recentActivity.map(({ hash, chain, timestamp: when }) => [hash ?? "?", chain ?? "?", when ?? "?"]),
    ),
    ...(summary.warnings.length > 0
      ? ["", "What to know", ...summary.warnings.map((each) => `  ${plain(each, 400)}`)]
      : []),
    "",
    receipt === null
      ? "Nothing was paid."
      : `Paid${receipt.paidUsd === null ? "" : ` $${receipt.paidUsd}`} by ${receipt.payer} on ${receipt.network} in transaction ${receipt.transaction}`,
    "",
  ].join("\n");
}

function section(title: string, head: Row, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: Row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
  return ["", title, line(head), ...rows.map(line)];
}

function usd(text: string | null): string {
  if (text === null) return "–";
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

/** Names are a stranger's text: what could steer a terminal is taken out. */
function plain(text: string, lengthMax = NAME_LENGTH_MAX): string {
  const shown = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "·");
  return shown.length > lengthMax ? `${shown.slice(0, lengthMax - 1)}…` : shown;
}
