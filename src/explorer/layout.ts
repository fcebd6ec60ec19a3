// The frame of every page: navigation, search, the block to look at, and where the index is.
import { FAVICON_PATH } from "../http/icon.ts";
import { renderDocument } from "../http/pages/document.ts";
import { type Html, html } from "../lib/html.ts";
import { type AssetName, assetPath } from "./assets.ts";
import { time } from "./components.ts";
import {
  type Changes,
  linkHere,
  linkTo,
  type PageContext,
  type PageRequest,
  type Place,
  pagePath,
  type Site,
} from "./context.ts";
import { formatNumber } from "./format.ts";
import { deploymentName, navigation } from "./navigation.ts";
import type { PageView } from "./page.ts";

/** Nothing inline, nothing foreign: a name that breaks out of its place could still load and run nothing. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const BASE_SCRIPTS: readonly AssetName[] = ["page.js"];

export function renderExplorerPage(view: PageView, page: PageContext): Html {
  const { head } = page;
  const changes = view.changes ?? { previous: head.previous_event_block, next: head.next_event_block };
  const body = html`${blockBar(page, changes)}
<main id="main">
<header class="title">${view.kicker !== undefined && html`<p class="kicker">${view.kicker}</p>`}<div class="title-line"><h1>${view.title}</h1>${view.beside}</div>${view.lead !== undefined && html`<p class="lead">${view.lead}</p>`}</header>
${view.main}
</main>
${footer(page)}`;
  return renderFrame(
    {
      title: view.title,
      site: page.site,
      request: page,
      scripts: [...BASE_SCRIPTS, ...(view.scripts ?? [])],
    },
    body,
  );
}

type DocumentParts = {
  readonly title: string;
  readonly site: Site;
  readonly request: Place & {
    readonly path?: string;
    readonly query?: PageRequest["query"];
  };
  readonly scripts?: readonly AssetName[];
};

/** A whole document; also of errors, which have no head of the index to show. */
export function renderFrame(
  { title, site, request, scripts = BASE_SCRIPTS }: DocumentParts,
  body: Html,
): Html {
  const assets = html`<link rel="stylesheet" href="${assetPath("explorer.css")}">
${scripts.map((name) => html`<script type="module" src="${assetPath(name)}"></script>\n`)}`;
  return renderDocument({
    title: formatTitle(title, deploymentName(site.deployments, request)),
    assets,
    body: html`<a class="skip" href="#main">To the content</a>
<header class="top"><div class="wide">
<a class="brand" href="${linkTo(request, "")}"><img src="${FAVICON_PATH}" alt="" width="26" height="26">Sextant</a>
${request.path !== "" && searchForm(request)}
${navigation(site, request)}
</div></header>
${body}
`,
  });
}

/** Tabs of several deployments show the same pages. */
function formatTitle(title: string, deployment: string | null): string {
  const parts = [title, deployment, "Sextant"].filter((part) => part !== null);
  return title === "Sextant" ? parts.slice(0, -1).join(" · ") : parts.join(" · ");
}

function searchForm({ base, block, path, query }: DocumentParts["request"]): Html {
  const value = path === "/search" ? (query?.q ?? "") : "";
  return html`<form class="search" role="search" method="get" action="${pagePath({ base }, "/search")}"><label class="hidden" for="q">Search by id, address or hash</label><input type="search" id="q" name="q" value="${value}" placeholder="Id, address or hash" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" required>${block !== null && html`<input type="hidden" name="block" value="${block}">`}<button>Search</button></form>`;
}

/** The block slider: a form with a number without JavaScript, a slider alongside it with it. */
function blockBar(page: PageContext, { previous, next }: Changes): Html {
  const { head, block } = page;
  const hidden = Object.entries(page.query).filter(([key]) => key !== "cursor" && key !== "trail");
  const step = (to: string | null, label: string, arrow: string) =>
    to === null
      ? html`<span class="step off" title="No ${label.toLowerCase()}">${arrow}<span class="hidden">No ${label.toLowerCase()}</span></span>`
      : html`<a class="step" href="${linkHere(page, { block: to, ...NO_PAGING })}" title="${label}: block ${to}">${arrow}<span class="hidden">${label}: block ${to}</span></a>`;
  return html`<div class="blocks${block === null ? "" : " past"}" role="region" aria-label="Block to show"><div class="wide">
${block !== null && pastBanner(page)}
<form method="get" action="${pagePath(page, page.path)}" data-slider>
${hidden.map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}">`)}
<label for="block">Block</label>
${step(previous, "Previous change", "‹")}
<input type="number" id="block" name="block" inputmode="numeric" min="${head.start_block}" max="${head.indexed_block}" step="1" value="${head.block_number}" required>
${step(next, "Next change", "›")}
<button class="quiet">Go</button>
</form>
</div></div>`;
}

const NO_PAGING = { cursor: null, trail: null };

function pastBanner(page: PageContext): Html {
  const { head } = page;
  return html`<p class="past-text" role="status">As of block <strong>${formatNumber(head.block_number).text}</strong>, ${time(head.block_timestamp)} – <a href="${linkHere(page, { block: null, ...NO_PAGING })}" class="live">back to live</a></p>`;
}

function footer({ head, site, base }: PageContext): Html {
  const behind = BigInt(head.indexed_block) - BigInt(head.finalized_block);
  return html`<footer class="foot"><div class="wide"><dl class="state">
<div><dt>Network</dt><dd>${site.chain.network} <span class="soft">(${site.chain.chainId})</span></dd></div>
<div><dt>Indexed</dt><dd>block <span data-live="indexed">${formatNumber(head.indexed_block).text}</span></dd></div>
<div><dt>Block time</dt><dd><span data-age>${time(head.indexed_timestamp)}</span></dd></div>
<div><dt>Final</dt><dd>block ${formatNumber(head.finalized_block).text} <span class="soft">(${formatNumber(behind.toString()).text} behind)</span></dd></div>
</dl><p class="soft">Every page is a view of the <a href="${base}/docs">API</a>: the same data, with curl and code to copy. Names and links in records were written by third parties.</p></div></footer>`;
}
