// The elements that views consist of, as plain data: the browser makes nodes of them, the service HTML. Text stays text
// in both, because anyone can choose the name of a token.

/**
 * @typedef {{tag: string, attributes: Record<string, string>, children: ViewChild[]}} ViewElement
 * @typedef {ViewElement | string} ViewChild
 */

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(ViewChild | null)[]} children
 * @returns {ViewElement}
 */
export function createElement(tag, attributes, ...children) {
  return { tag, attributes, children: children.filter((child) => child !== null) };
}

// "−$1,234,567,901.37" fits beside a name on the narrowest phone.
const AMOUNT_LENGTH_MAX = 18;

/** An amount in one piece; one that is longer than a line may break after its thousands. @param {string} text */
export function renderAmount(text) {
  const groups = text.length > AMOUNT_LENGTH_MAX ? text.split(/(?<=,)/) : [text];
  const parts = groups.flatMap((group, index) => (index === 0 ? [group] : [createElement("wbr", {}), group]));
  return createElement("span", { class: "amount" }, ...parts);
}

/** @param {string} title @param {(ViewChild | null)[]} children */
export function renderCard(title, ...children) {
  return createElement("section", { class: "card" }, createElement("h3", {}, title), ...children);
}

/** @param {(string | ViewElement)[][]} rows Name and value. */
export function renderFacts(rows) {
  const parts = rows.map(([name = "", value = ""]) =>
    createElement("div", {}, createElement("dt", {}, name), createElement("dd", {}, value)),
  );
  return createElement("dl", { class: "facts" }, ...parts);
}

/** @typedef {{name: string, look?: string}} Column */

/**
 * A table that fits its card at every width: columns with the look `wide` are left out on narrow screens.
 * @param {{look: string, caption: string, columns: Column[]}} head
 * @param {ViewElement[]} bodies
 */
export function renderTable({ look, caption, columns }, ...bodies) {
  const head = columns.map(({ name, look: columnLook = "" }) =>
    createElement("th", { scope: "col", class: columnLook }, name),
  );
  return createElement(
    "table",
    { class: look },
    createElement("caption", { class: "unseen" }, caption),
    createElement("thead", {}, createElement("tr", {}, ...head)),
    ...bodies,
  );
}

/**
 * The first rows of a table, and the others folded away in a second one.
 * @param {Parameters<typeof renderTable>[0]} head
 * @param {ViewElement[]} rows
 * @param {number} shown
 * @returns {ViewElement[]}
 */
export function renderFoldedTable(head, rows, shown) {
  const render = (/** @type {ViewElement[]} */ part) =>
    renderTable(head, createElement("tbody", {}, ...part));
  if (rows.length <= shown) return [render(rows)];
  const rest = rows.slice(shown);
  const summary = createElement("summary", {}, `${rest.length} more`);
  return [render(rows.slice(0, shown)), createElement("details", { class: "more" }, summary, render(rest))];
}

/** @param {ViewChild} text @param {string} exact For the tooltip. @param {string} look @param {(ViewElement | null)[]} below */
export function renderNumberCell(text, exact, look = "", ...below) {
  const shown = typeof text === "string" ? renderAmount(text) : text;
  return createElement("td", { class: `number ${look}`.trim(), title: exact }, shown, ...below);
}

/** A share of a whole as a bar; the number stands beside it. @param {number} percent @param {string} look */
export function renderShareBar(percent, look) {
  const size = { x: "0", y: "0", height: "4", rx: "2" };
  return createElement(
    "svg",
    { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    createElement("rect", { ...size, width: "100", class: "track" }),
    createElement("rect", { ...size, width: String(Math.min(Math.max(percent, 0), 100)), class: look }),
  );
}
