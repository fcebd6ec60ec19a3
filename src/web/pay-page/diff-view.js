// Renders a difference: the change at a glance, before and after, and each change split into quantity and price.
import { formatUsd, toMillionths } from "./amounts.js";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFacts,
  renderFoldedTable,
  renderNumberCell,
} from "./elements.js";
import { renderNotes, renderWarnings, sortNotes } from "./notes.js";
import { renderTotalAmount } from "./result-view.js";
import { renderChain, renderName, renderTime, shortenHex } from "./texts.js";

/**
 * @typedef {import("./elements.js").ViewElement} ViewElement
 * @typedef {import("./responses.d.ts").Difference} Difference
 * @typedef {import("./responses.d.ts").ValueChange} ValueChange
 * @typedef {import("./result-view.js").ViewContext} ViewContext
 */

const CHANGES_SHOWN = 20;

const CHANGE_COLUMNS = [
  { name: "What" },
  { name: "Before", look: "number wide" },
  { name: "After", look: "number wide" },
  { name: "By quantity", look: "number wide" },
  { name: "By price", look: "number wide" },
  { name: "Change", look: "number" },
];

/** @param {Difference} difference @param {ViewContext} context @returns {ViewElement[]} */
export function renderDifference(difference, context) {
  const { from, to, tokens, positions } = difference;
  const { notes, warnings } = sortNotes([...new Set([...from.warnings, ...to.warnings])]);
  const parts = [
    createElement("div", { class: "two" }, renderChange(difference), renderSides(difference, context)),
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

/** With its sign, which says whether it was gained or lost. @param {string | null} text */
function formatChange(text) {
  if (text === null) return "unknown";
  return toMillionths(text) > 0n ? `+${formatUsd(text)}` : formatUsd(text);
}

/** @param {string | null} text */
function renderChangeAmount(text) {
  return renderAmount(formatChange(text));
}

/** @param {Difference} difference */
function renderChange({ total, unknownCount }) {
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

/** @param {Difference} difference @param {ViewContext} context */
function renderSides({ total, from, to, chains }, { nameOf, timeZone }) {
  const blocks = (/** @type {Difference["from"]} */ side) =>
    side.blocks.map(({ chain, number }) => `${nameOf(chain)} ${number}`).join(", ");
  const side = (/** @type {string | null} */ value) =>
    renderAmount(value === null ? "unknown" : formatUsd(value));
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

/** @typedef {ValueChange & {chain: string, name: string, before: string | null, after: string | null}} Row */

/** @param {Difference["tokens"][number]} token @returns {Row} */
function describeToken({ contract, before, after, ...change }) {
  const name = after?.symbol ?? before?.symbol ?? (contract === null ? "?" : shortenHex(contract));
  return { ...change, name, before: sideValue(before), after: sideValue(after) };
}

/** What is not there is worth nothing. @param {{valueUsd: string | null} | null} side */
function sideValue(side) {
  return side === null ? "0" : side.valueUsd;
}

/** @param {Difference["positions"][number]} position @returns {Row} */
function describePosition({ assets, ...change }) {
  const [only] = assets;
  const isOne = assets.length === 1 && only !== undefined;
  return {
    ...change,
    before: isOne ? sideValue(only.before) : null,
    after: isOne ? sideValue(only.after) : null,
  };
}

/** @param {string} title @param {Row[]} rows @param {ViewContext} context */
function renderChanges(title, rows, context) {
  if (rows.length === 0) return renderCard(title, createElement("p", { class: "soft" }, "Nothing changed."));
  const size = (/** @type {Row} */ { changeUsd }) => {
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

/** @param {Row} row @param {ViewContext} context */
function renderRow({ name, chain, before, after, quantityUsd, priceUsd, changeUsd }, { nameOf }) {
  const cell = (/** @type {string | null} */ value) =>
    renderNumberCell(formatUsd(value), value ?? "unknown", "wide");
  const change = (/** @type {string | null} */ value, /** @type {string} */ look) =>
    renderNumberCell(
      formatChange(value),
      value ?? "unknown",
      `${look} ${value?.startsWith("-") ? "negative" : ""}`.trim(),
    );
  return createElement(
    "tr",
    {},
    createElement(
      "th",
      { scope: "row" },
      createElement("strong", {}, renderName(name)),
      createElement("small", {}, renderChain(nameOf(chain))),
    ),
    cell(before),
    cell(after),
    change(quantityUsd, "wide"),
    change(priceUsd, "wide"),
    change(changeUsd, ""),
  );
}
