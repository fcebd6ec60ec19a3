// Where the money is: a ring of the largest parts, with the same in words beside it.
import { millionths, usd } from "./amounts.js";
import { drawing, element, named } from "./elements.js";

// More slices can not be told apart; the rest is one slice.
const SLICES_MAX = 6;
// A ring of this radius is 100 long, so that a share is its own length.
const RADIUS = "15.9155";

/** @typedef {{name: string, chain: string, valueUsd: string}} Part */

/** @param {import("./paid-request.js").Snapshot} snapshot @returns {Part[]} What is worth something, largest first; debts are no part of a whole. */
export function partsOf({ tokens, positions }) {
  const held = tokens
    .filter((token) => !token.spam)
    .map(({ symbol, name, chain, valueUsd }) => ({ name: symbol ?? name ?? "?", chain, valueUsd }));
  return [...held, ...positions]
    .map(({ name, chain, valueUsd }) => ({ name: named(name), chain, valueUsd: valueUsd ?? "0" }))
    .filter(({ valueUsd }) => millionths(valueUsd) > 0n)
    .sort((a, b) => (millionths(a.valueUsd) < millionths(b.valueUsd) ? 1 : -1));
}

/** @param {Part[]} parts @returns {HTMLElement | null} */
export function allocation(parts) {
  const whole = parts.reduce((sum, { valueUsd }) => sum + millionths(valueUsd), 0n);
  if (whole === 0n) return null;
  const slices = sliced(parts).map(({ name, chain, units }, index) => ({
    name,
    chain,
    units,
    // Only for the picture: a percentage of one digit.
    share: Number((units * 1000n) / whole) / 10,
    look: `s${index < SLICES_MAX ? index : 6}`,
  }));
  let start = 0;
  const arcs = slices.map(({ share, look }) => {
    const arc = drawing("circle", {
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
  return element(
    "div",
    { class: "allocation" },
    drawing("svg", { viewBox: "0 0 42 42", role: "img", "aria-label": `Allocation: ${words}` }, ...arcs),
    element(
      "ul",
      { class: "legend" },
      ...slices.map(({ name, chain, units, share, look }) =>
        element(
          "li",
          {},
          element("span", { class: `dot ${look}` }),
          element("span", { class: "name" }, `${name} `, element("small", { class: "soft" }, chain)),
          element("span", { class: "soft" }, `${share} %`),
          element("span", {}, usd(`${units / 1000000n}.${String(units % 1000000n).padStart(6, "0")}`)),
        ),
      ),
    ),
  );
}

/** @param {Part[]} parts */
function sliced(parts) {
  const all = parts.map(({ name, chain, valueUsd }) => ({ name, chain, units: millionths(valueUsd) }));
  if (all.length <= SLICES_MAX) return all;
  const rest = all.slice(SLICES_MAX);
  const units = rest.reduce((sum, part) => sum + part.units, 0n);
  return [...all.slice(0, SLICES_MAX), { name: `${rest.length} more`, chain: "", units }];
}
