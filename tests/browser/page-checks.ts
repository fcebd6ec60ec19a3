// Checks for every page: nothing is wider than its container, and nothing stops a screen reader.
import axe from "axe-core";
import type { Page } from "playwright-core";

const SCHEMES = ["light", "dark"] as const;

/** Widths from the narrowest phone to a desktop. */
export const LAYOUT_WIDTHS: readonly number[] = [320, 360, 390, 768, 1280];

// "−$1,234,567,901.37": what the pages promise to keep in one piece.
const NUMBER_LENGTH_MAX = 18;

/**
 * Describes what is wrong with the layout at this width: a page wider than the window, something cut off or visible
 * only after scrolling sideways, a search field too narrow for its placeholder, text that something else covers, a
 * shortened address or hash on two lines, and a number on two lines, unless it is longer than a line of a phone. The
 * function runs in the page, which has no access to this file.
 */
const FIND_LAYOUT_DEFECTS = `(() => {
  const found = new Set();
  const name = (node) => node.tagName.toLowerCase() + "." + node.className + " " + node.textContent.trim().slice(0, 40);
  // Clipped are the heads of stacked tables, and other texts for screen readers only.
  const isShown = (node) =>
    node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && getComputedStyle(node).clipPath !== "inset(50%)";
  const isSeen = (node) => {
    const { width, height } = node.getBoundingClientRect();
    return width > 1 && height > 1;
  };
  /** The nodes of a kind, without those inside of what is hidden: to measure these would lay out every folded part. */
  const walk = function* (kind, excluded) {
    const acceptNode = (node) =>
      node.nodeType === Node.TEXT_NODE || (!node.matches(excluded) && isShown(node)) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, acceptNode);
    while (walker.nextNode()) if (walker.currentNode.nodeType === kind) yield walker.currentNode;
  };
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.add("the page is " + scrollWidth + " pixels wide");
  for (const node of walk(Node.ELEMENT_NODE, "svg, pre, select, textarea, input, .hidden")) {
    if (!isSeen(node)) continue;
    const { overflowX } = getComputedStyle(node);
    const isFrame = overflowX !== "visible" || node.matches("#total, .card, h1, h2, h3, h4, dd, .asset, .permissions > li, .legend li > span");
    if (isFrame && node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1) found.add("cut: " + name(node));
    const { left, right } = node.getBoundingClientRect();
    if (left < -0.5 || right > innerWidth + 0.5) found.add("outside: " + name(node));
  }
  for (const id of document.querySelectorAll(".id"))
    if (isShown(id) && id.getClientRects().length > 1) found.add("broken: " + name(id));
  const pen = document.createElement("canvas").getContext("2d");
  for (const field of walk(Node.ELEMENT_NODE, ".hidden")) {
    if (field.type !== "search" || !isSeen(field)) continue;
    const { font, paddingLeft, paddingRight } = getComputedStyle(field);
    pen.font = font;
    const place = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    if (pen.measureText(field.placeholder).width > place + 1) found.add("cut placeholder: " + field.placeholder);
  }
  const range = document.createRange();
  for (const text of walk(Node.TEXT_NODE, "script, style, select, svg, pre, code, bdi, .hidden")) {
    for (const { 0: number, index } of text.data.matchAll(/(?<![\\w.])[+−]?\\$?\\d[\\d,.]*\\d(?![\\w…])/g)) {
      if (number.length > ${NUMBER_LENGTH_MAX} || !isSeen(text.parentElement)) continue;
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      const [first, ...others] = range.getClientRects();
      if (others.some(({ top }) => top > first.bottom - 2)) found.add("broken: " + number + " in " + name(text.parentElement));
    }
  }
  for (const text of walk(Node.TEXT_NODE, "script, style, select, svg, .hidden")) {
    const parent = text.parentElement;
    if (text.data.trim() === "" || !isSeen(parent)) continue;
    range.selectNodeContents(text);
    // Only what is in the window can be covered.
    const { top: start, bottom: end } = range.getBoundingClientRect();
    if (start < 0 || end > innerHeight) scrollBy(0, start - 100);
    // Text beyond the edge of a box that scrolls up and down is not shown there.
    let box = parent;
    while (box !== document.body && getComputedStyle(box).overflowY === "visible") box = box.parentElement;
    const frame = box === document.body ? null : box.getBoundingClientRect();
    for (const { left, right, top, bottom } of range.getClientRects()) {
      if (frame !== null && (top < frame.top || bottom > frame.bottom)) continue;
      const x = [left + 2, (left + right) / 2, right - 2].find((each) => {
        const over = document.elementFromPoint(each, (top + bottom) / 2);
        return over !== null && !over.contains(parent) && !parent.contains(over);
      });
      if (right - left < 4 || x === undefined) continue;
      found.add("covered: " + text.data.trim().slice(0, 40) + " by " + name(document.elementFromPoint(x, (top + bottom) / 2)));
    }
  }
  scrollTo(0, 0);
  return [...found];
})()`;

/** The defects of the layout at every width, and in both schemes at the extremes, with the width in front; what is folded stays so. */
export async function findLayoutDefects(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of LAYOUT_WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Only what is in the window can be covered.
    const height = (await page.evaluate("document.documentElement.scrollHeight")) as number;
    await page.setViewportSize({ width, height: Math.min(height, WINDOW_HEIGHT_MAX) });
    // The schemes differ in colours only: the second one is for what a rule of its own would change.
    for (const colorScheme of EXTREMES.includes(width) ? SCHEMES : SCHEMES.slice(0, 1)) {
      await page.emulateMedia({ colorScheme });
      const defects = (await page.evaluate(FIND_LAYOUT_DEFECTS)) as readonly string[];
      found.push(...defects.slice(0, DEFECTS_SHOWN).map((each) => `${width} ${colorScheme}: ${each}`));
    }
  }
  return found;
}

const EXTREMES: readonly (number | undefined)[] = [LAYOUT_WIDTHS[0], LAYOUT_WIDTHS.at(-1)];
// Chromium draws no taller window.
const WINDOW_HEIGHT_MAX = 16_000;
// The first ones name the cause; the rest follows from it.
const DEFECTS_SHOWN = 4;

type Finding = {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
};

// The pages change nothing but colours with the scheme, so that no other rule can find more in the second one.
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Violations that axe calls serious or critical in the light and in the dark scheme, with the first elements of each.
 */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const runOnly = colorScheme === SCHEMES[0] ? undefined : COLOUR_RULES;
    const options = JSON.stringify({ resultTypes: ["violations"], selectors: false, runOnly });
    const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as {
      readonly violations: readonly Finding[];
    };
    for (const { id, impact, nodes } of violations) {
      // Content outside of landmarks is hard to find for a screen reader.
      if (impact !== "serious" && impact !== "critical" && id !== "region") continue;
      const places = nodes.slice(0, 3).map(({ html }) => html.slice(0, 200));
      found.push(`${colorScheme} ${id}: ${places.join(" | ")}`);
    }
  }
  return found;
}
