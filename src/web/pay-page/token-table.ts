// Renders the tokens: those that count first, spam folded away.
import type { PortfolioToken } from "../../schema/portfolio/snapshot.ts";
import { formatPrice, formatQuantity, formatUsd } from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFoldedTable,
  renderNumberCell,
  type ViewElement,
} from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderChain, renderName, renderTime, revealName, shortenHex } from "./texts.ts";

// Rows that fit a screen or two; most wallets have fewer that are worth something.
const TOKENS_SHOWN = 20;

const TOKEN_COLUMNS = [
  { name: "Token" },
  { name: "Balance", look: "number wide" },
  { name: "Price", look: "number wide" },
  { name: "Value", look: "number" },
];

export function renderTokens(tokens: readonly PortfolioToken[], context: ViewContext) {
  const counted = tokens.filter(({ spam }) => !spam);
  const spam = tokens.filter((token) => token.spam);
  const head = { look: "tokens", caption: "Tokens, largest value first", columns: TOKEN_COLUMNS };
  const renderRows = (part: PortfolioToken[]) => part.map((token) => renderToken(token, context));
  const table =
    counted.length === 0
      ? [createElement("p.soft", "The wallet holds no token that counts on these chains.")]
      : renderFoldedTable(head, renderRows(counted), TOKENS_SHOWN);
  return renderCard("Tokens", ...table, spam.length === 0 ? null : renderSpam(head, renderRows(spam)));
}

function renderSpam(head: Parameters<typeof renderFoldedTable>[0], rows: ViewElement[]) {
  const label = rows.length === 1 ? "1 token marked as spam" : `${rows.length} tokens marked as spam`;
  return createElement(
    "details.more.spam",
    createElement("summary", `${label}, not counted`),
    createElement(
      "p.soft",
      "Others sent these. Do not visit addresses in their names, and do not try to sell them.",
    ),
    ...renderFoldedTable({ ...head, caption: "Tokens marked as spam" }, rows, rows.length),
  );
}

function renderToken(token: PortfolioToken, context: ViewContext) {
  const { symbol, name, contract, balance, rawBalance, priceUsd, valueUsd } = token;
  const shown = symbol ?? name ?? (contract === null ? "?" : shortenHex(contract));
  const quantity = balance === null ? "unknown decimals" : formatQuantity(balance);
  const about = `${revealName(symbol ?? "?")} · ${revealName(name ?? "?")} · ${contract ?? "native coin"}`;
  return createElement(
    "tr",
    createElement(
      "th",
      { scope: "row", title: about },
      createElement("strong", renderName(shown)),
      createElement(
        "small",
        name === null || name === shown ? null : renderName(name),
        renderChain(context.nameOf(token.chain)),
      ),
    ),
    renderNumberCell(quantity, balance ?? rawBalance, "wide"),
    renderNumberCell(
      formatPrice(priceUsd),
      priceUsd ?? "no price",
      "wide",
      renderPriceSource(token, context),
    ),
    renderNumberCell(
      valueUsd === null ? createElement("span.soft", "no price") : formatUsd(valueUsd),
      valueUsd ?? "no price",
      "",
      createElement("small.narrow", renderAmount(quantity)),
    ),
  );
}

function renderPriceSource({ priceSource, priceTimestamp }: PortfolioToken, { timeZone }: ViewContext) {
  if (priceSource === null) return null;
  if (priceTimestamp === null) return createElement("small", priceSource);
  const { attributes } = renderTime(priceTimestamp, timeZone);
  return createElement("small", { title: `Set ${attributes.title}` }, priceSource);
}
