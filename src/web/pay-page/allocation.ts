// Renders the allocation: a ring chart of the largest parts, with a legend.
import { computeShare, formatShare, formatUsd, fromMillionths, toMillionths } from "./amounts.ts";
import { createElement, renderAmount, type ViewElement } from "./elements.ts";
import type { KeptSnapshot } from "./result-view.ts";
import { renderChain, renderName, truncateName } from "./texts.ts";

// More slices are hard to distinguish; the rest becomes one slice.
const SLICES_MAX = 6;
// The circumference of this radius is 100, so that a percentage is a length.
const RADIUS = "15.9155";

type Part = { name: string; chain: string; units: bigint };
type Slice = Part & { share: number; look: string };

/** Parts with a positive value, largest first; debts are not part of the whole. */
export function listParts({ tokens, positions }: KeptSnapshot): Part[] {
  const held = tokens
    .filter((token) => !token.spam)
    .map(({ symbol, name, chain, valueUsd }) => ({ name: symbol ?? name ?? "?", chain, valueUsd }));
  return [...held, ...positions]
    .map(({ name, chain, valueUsd }) => ({ name, chain, units: toMillionths(valueUsd) }))
    .filter(({ units }) => units > 0n)
    .sort((a, b) => (a.units < b.units ? 1 : -1));
}

export function renderAllocation(parts: Part[], nameOf: (slug: string) => string): ViewElement | null {
  const whole = parts.reduce((sum, { units }) => sum + units, 0n);
  if (whole === 0n) return null;
  const slices = groupSlices(parts).map((part, index) => ({
    ...part,
    chain: part.chain === "" ? "" : nameOf(part.chain),
    share: computeShare(part.units, whole),
    look: `s${index < SLICES_MAX ? index : 6}`,
  }));
  return createElement(
    "div.allocation",
    renderRing(slices),
    createElement("ul.legend", ...slices.map(renderSlice)),
  );
}

function renderRing(slices: Slice[]) {
  let start = 0;
  const arcs = slices.map(({ share, look }) => {
    const arc = createElement("circle", {
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
  const words = slices
    .map(({ name, chain, share }) => `${truncateName(name)} ${chain} ${formatShare(share)}`)
    .join(", ");
  return createElement(
    "svg.ring",
    { viewBox: "0 0 42 42", role: "img", "aria-label": `Allocation: ${words}` },
    ...arcs,
  );
}

function renderSlice({ name, chain, units, share, look }: Slice) {
  return createElement(
    "li",
    createElement("span", { class: `dot ${look}` }),
    createElement("span.name", renderName(name), chain === "" ? null : renderChain(chain)),
    createElement("span.share", formatShare(share)),
    createElement("span.value", renderAmount(formatUsd(fromMillionths(units)))),
  );
}

function groupSlices(parts: Part[]): Part[] {
  if (parts.length <= SLICES_MAX) return parts;
  const rest = parts.slice(SLICES_MAX);
  const units = rest.reduce((sum, part) => sum + part.units, 0n);
  return [...parts.slice(0, SLICES_MAX), { name: `${rest.length} more`, chain: "", units }];
}
