// The navigation of every page: a menu for each section, which opens and closes without JavaScript.
import { type Html, html } from "../lib/html.ts";
import { linkTo, type NavSection, type Place, pagePath, type Site } from "./context.ts";
import type { Section } from "./page.ts";

/** A section without a page that a menu could name is left out. */
export function createNavigation(sections: readonly Section[]): readonly NavSection[] {
  return sections.flatMap(({ label, pages }) => {
    const links = pages.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ path, label: nav }]));
    return links.length === 0
      ? []
      : [{ label, links, roots: new Set(pages.map(({ path }) => rootOf(path))) }];
  });
}

const rootOf = (path: string) => path.split("/")[1] ?? "";

type Here = Place & { readonly path?: string };

/** One name for all menus: opening one closes the others, by the browser itself. */
export function navigation({ nav, deployments }: Pick<Site, "nav" | "deployments">, place: Here): Html {
  const menus = nav.map(({ label, links, roots }) => {
    const isHere = roots.has(rootOf(place.path ?? ""));
    return html`<li><details class="menu" name="menu"><summary${isHere && html` class="here"`}>${label}${isHere && html`<span class="hidden"> (this section)</span>`}</summary><ul>${links.map((link) => html`<li>${menuLink(link, place)}</li>`)}</ul></details></li>`;
  });
  return html`<nav class="menus" aria-label="Main"><ul>${menus}${deployments.length > 1 && deploymentMenu(deployments, place)}<li><a class="alone" href="${place.base}/docs">API</a></li></ul></nav>`;
}

/** The menu has the name of this one. It leads to the first page of another: its records and blocks are others. */
function deploymentMenu(deployments: Site["deployments"], place: Here): Html {
  const links = deployments.map(
    ({ name, base }) =>
      html`<li><a href="${pagePath({ base }, "")}"${base === place.base && html` aria-current="true"`}>${name}</a></li>`,
  );
  return html`<li><details class="menu" name="menu"><summary class="deployment"><span class="hidden">Deployment </span><span class="name">${deploymentName(deployments, place)}</span></summary><ul>${links}</ul></details></li>`;
}

/** Null if it is the only one: there is nothing to distinguish it from. */
export function deploymentName(
  deployments: Site["deployments"],
  { base }: Pick<Place, "base">,
): string | null {
  if (deployments.length < 2) return null;
  return deployments.find((each) => each.base === base)?.name ?? null;
}

function menuLink({ path, label }: NavSection["links"][number], place: Here): Html {
  const isHere = place.path === path;
  const isAround = place.path?.startsWith(`${path}/`) === true;
  // A record is not its list, but belongs to it.
  const current = isHere ? "page" : isAround ? "true" : null;
  return html`<a href="${linkTo(place, path)}"${current !== null && html` aria-current="${current}"`}>${label}</a>`;
}
