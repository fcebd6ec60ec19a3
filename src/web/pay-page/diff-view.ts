// Renders a difference: the change at a glance, before and after, and each change split into quantity and price.
import type { PortfolioDiff, ValueChange } from "../../schema/portfolio/diff.ts";
import { formatUsd, toMillionths } from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFacts,
  renderFoldedTable,
  renderNumberCell,
  type ViewElement,
} from "./elements.ts";
import { renderNotes, renderWarnings, sortNotes } from "./notes.ts";
import { renderTotalAmount, type ViewContext } from "./result-view.ts";
import { renderChain, renderName, renderTime, shortenHex } from "./texts.ts";

const CHANGES_SHOWN = 20;

const CHANGE_COLUMNS = [
  { name: "What" },
  { name: "Before", look: "number wide" },
  { name: "After", look: "number wide" },
  { name: "By quantity", look: "number wide" },
  { name: "By price", look: "number wide" },
  { name: "Change", look: "number" },
];

export function renderDifference(difference: PortfolioDiff, context: ViewContext): ViewElement[] {
  const { from, to, tokens, positions } = difference;
  const { notes, warnings } = sortNotes([...new Set([...from.warnings, ...to.warnings])]);
  const parts = [
    createElement("div.two", renderChange(difference), renderSides(difference, context)),
    warnings.length === 0 ? null : renderWarnings(warnings),
    renderChanges(
      "Tokens",
      tokens.map((token) => describeToken(token)),
      context,
    ),
    renderChanges(
      "Positions",
      positions.map((position) => describePosition(position)),
      context,
    ),
    renderNotes({ timestamp: to.timestamp, provider: difference.provider }, notes, context),
  ];
  return parts.filter((part) => part !== null);
}

/** With its sign, which says whether it was gained or lost. */
function formatChange(text: string | null) {
  if (text === null) return "unknown";
  return toMillionths(text) > 0n ? `+${formatUsd(text)}` : formatUsd(text);
}

function renderChangeAmount(text: string | null) {
  return renderAmount(formatChange(text));
}

function renderChange({ total, unknownCount }: PortfolioDiff) {
  const { changeUsd, quantityUsd, priceUsd, otherUsd } = total;
  return renderCard(
    "Change in value",
    renderTotalAmount(changeUsd === null ? "Unknown" : formatChange(changeUsd)),
    renderFacts([
      ["By quantity: what came and went", renderChangeAmount(quantityUsd)],
      ["By price", renderChangeAmount(priceUsd)],
      ...(otherUsd === null || toMillionths(otherUsd) === 0n
        ? []
        : [["Counted on one side only", renderChangeAmount(otherUsd)]]),
      ...(unknownCount === 0 ? [] : [["Changes of unknown value", String(unknownCount)]]),
    ]),
  );
}

function renderSides({ total, from, to, chains }: PortfolioDiff, { nameOf, timeZone }: ViewContext) {
  const blocks = (side: PortfolioDiff["from"]) =>
    side.blocks.map(({ chain, number }) => `${nameOf(chain)} ${number}`).join(", ");
  const side = (value: string | null) => renderAmount(value === null ? "unknown" : formatUsd(value));
  return renderCard(
    "Before and after",
    renderFacts([
      ["Before", side(total.beforeUsd)],
      ["Taken", renderTime(from.timestamp, timeZone)],
      ["Blocks", blocks(from)],
      ["After", side(total.afterUsd)],
      ["Taken", renderTime(to.timestamp, timeZone)],
      ["Blocks", blocks(to)],
      ...(chains.length < 2
        ? []
        : chains.map((each) => [nameOf(each.chain), renderChangeAmount(each.changeUsd)])),
    ]),
  );
}

type Row = ValueChange & { chain: string; name: string; before: string | null; after: string | null };

function describeToken({ contract, before, after, ...change }: PortfolioDiff["tokens"][number]): Row {
  const name = after?.symbol ?? before?.symbol ?? (contract === null ? "?" : shortenHex(contract));
  return { ...change, name, before: sideValue(before), after: sideValue(after) };
}

/** A missing holding is worth nothing. */
function sideValue(side: { valueUsd: string | null } | null) {
  return side === null ? "0" : side.valueUsd;
}

function describePosition({ assets, ...change }: PortfolioDiff["positions"][number]): Row {
  const [only] = assets;
  const isOne = assets.length === 1 && only !== undefined;
  return {
    ...change,
    before: isOne ? sideValue(only.before) : null,
    after: isOne ? sideValue(only.after) : null,
  };
}

function renderChanges(title: string, rows: Row[], context: ViewContext) {
  if (rows.length === 0) return renderCard(title, createElement("p.soft", "Nothing changed."));
  const size = ({ changeUsd }: Row) => {
    const units = toMillionths(changeUsd);
    return units < 0n ? -units : units;
  };
  const sorted = [...rows].sort((a, b) => (size(a) < size(b) ? 1 : size(a) > size(b) ? -1 : 0));
  const head = { look: "changes", caption: `${title}, largest change first`, columns: CHANGE_COLUMNS };
  return renderCard(
    title,
    ...renderFoldedTable(
      head,
      sorted.map((row) => renderRow(row, context)),
      CHANGES_SHOWN,
    ),
  );
}

function renderRow(
  { name, chain, before, after, quantityUsd, priceUsd, changeUsd }: Row,
  { nameOf }: ViewContext,
) {
  const cell = (value: string | null) => renderNumberCell(formatUsd(value), value ?? "unknown", "wide");
  const change = (value: string | null, look: string) =>
    renderNumberCell(
      formatChange(value),
      value ?? "unknown",
      `${look} ${value?.startsWith("-") ? "negative" : ""}`.trim(),
    );
  return createElement(
    "tr",
    createElement(
      "th",
      { scope: "row" },
      createElement("strong", renderName(name)),
      createElement("small", renderChain(nameOf(chain))),
    ),
    cell(before),
    cell(after),
    change(quantityUsd, "wide"),
    change(priceUsd, "wide"),
    change(changeUsd, ""),
  );
}
