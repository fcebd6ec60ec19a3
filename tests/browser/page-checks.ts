// What every page must pass: nothing wider than its place, and no barrier for screen readers.
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What is wider than its place, as text; run in the page, which has no access to this file. */
export const FIND_OVERFLOW = `(() => {
  const found = [];
  const name = (node) => node.tagName + "." + node.className + " " + node.textContent.slice(0, 30);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push("the page");
  for (const node of document.querySelectorAll("#total, .card, h1, h2, h3, h4, table, dd, .asset, .permissions > li, .legend li > span")) {
    const isFolded = node.closest("details:not([open])");
    if (!isFolded && node.clientWidth > 0 && node.scrollWidth > node.clientWidth) found.push(name(node));
  }
  for (const cell of document.querySelectorAll("table, th, td")) {
    const { left, right, width } = cell.getBoundingClientRect();
    const isUnseen = width === 0 || cell.closest("details:not([open])");
    if (!isUnseen && (left < 0 || right > innerWidth + 0.5)) found.push("outside: " + name(cell));
  }
  return found;
})()`;

type Finding = {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
};

const SCHEMES = ["light", "dark"] as const;
// The pages change nothing but colours with the scheme, so that no other rule can find more in the second one.
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** What axe finds serious or critical in the light and in the dark scheme, with the first places of each. */
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
