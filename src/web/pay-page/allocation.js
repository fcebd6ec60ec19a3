// Renders the allocation: a ring chart of the largest parts, with a legend.
import { formatUsd, toMillionths } from "./amounts.js";
import { createHtmlElement, createSvgElement, truncateName } from "./elements.js";

// More slices are hard to distinguish; the rest becomes one slice.
const SLICES_MAX = 6;
// The circumference of this radius is 100, so that a percentage is a length.
const RADIUS = "15.9155";

/** @typedef {{name: string, chain: string, valueUsd: string}} Part */

/** @param {import("./paid-request.js").Snapshot} snapshot @returns {Part[]} Parts with a positive value, largest first; debts are not part of the whole. */
export function listParts({ tokens, positions }) {
  const held = tokens
    .filter((token) => !token.spam)
    .map(({ symbol, name, chain, valueUsd }) => ({ name: symbol ?? name ?? "?", chain, valueUsd }));
  return [...held, ...positions]
    .map(({ name, chain, valueUsd }) => ({ name: truncateName(name), chain, valueUsd: valueUsd ?? "0" }))
    .filter(({ valueUsd }) => toMillionths(valueUsd) > 0n)
    .sort((a, b) => (toMillionths(a.valueUsd) < toMillionths(b.valueUsd) ? 1 : -1));
}

/** @param {Part[]} parts @returns {HTMLElement | null} */
export function renderAllocation(parts) {
  const whole = parts.reduce((sum, { valueUsd }) => sum + toMillionths(valueUsd), 0n);
  if (whole === 0n) return null;
  const slices = groupSlices(parts).map(({ name, chain, units }, index) => ({
    name,
    chain,
    units,
    // A percentage with one decimal, for display only.
    share: Number((units * 1000n) / whole) / 10,
    look: `s${index < SLICES_MAX ? index : 6}`,
  }));
  let start = 0;
  const arcs = slices.map(({ share, look }) => {
    const arc = createSvgElement("circle", {
      class: look,
      cx: "21",
      cy: "21",
      r: RADIUS,
      "stroke-dasharray": `${share} ${100 - share}`,
      "stroke-dashoffset": String(25 - start),
    });
    start += share;
    return arc;
  });
  const words = slices.map(({ name, chain, share }) => `${name} ${chain} ${share} %`).join(", ");
  return createHtmlElement(
    "div",
    { class: "allocation" },
    createSvgElement(
      "svg",
      { viewBox: "0 0 42 42", role: "img", "aria-label": `Allocation: ${words}` },
      ...arcs,
    ),
    createHtmlElement(
      "ul",
      { class: "legend" },
      ...slices.map(({ name, chain, units, share, look }) =>
        createHtmlElement(
          "li",
          {},
          createHtmlElement("span", { class: `dot ${look}` }),
          createHtmlElement(
            "span",
            { class: "name" },
            `${name} `,
            createHtmlElement("small", { class: "soft" }, chain),
          ),
          createHtmlElement("span", { class: "soft" }, `${share} %`),
          createHtmlElement(
            "span",
            {},
            formatUsd(`${units / 1000000n}.${String(units % 1000000n).padStart(6, "0")}`),
          ),
        ),
      ),
    ),
  );
}

/** @param {Part[]} parts */
function groupSlices(parts) {
  const all = parts.map(({ name, chain, valueUsd }) => ({ name, chain, units: toMillionths(valueUsd) }));
  if (all.length <= SLICES_MAX) return all;
  const rest = all.slice(SLICES_MAX);
  const units = rest.reduce((sum, part) => sum + part.units, 0n);
  return [...all.slice(0, SLICES_MAX), { name: `${rest.length} more`, chain: "", units }];
}
