// The frame of every page, those of errors too: menus, search, the block to look at, where the index is, and its style and modules.

import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { buildForBrowser } from "../http/pages/build-for-browser.ts";
import { type SerializedResponse, serializeResponse } from "../http/response.ts";
import { type Fault, publicMessage } from "../lib/fault.ts";
import { FAVICON_PATH, type Html, html, renderDocument } from "../lib/html.ts";
import { time } from "./components.ts";
import {
  type Changes,
  EXPLORER_PATH,
  linkHere,
  linkTo,
  type NavSection,
  type PageContext,
  type PageRequest,
  type Place,
  pagePath,
  type Site,
  shownNumber,
  shownTime,
} from "./context.ts";
import { formatNumber, formatSeconds } from "./format.ts";
import type { AssetName, PageView, Section } from "./page.ts";

/** Nothing inline, nothing foreign: a name that breaks out of its place could still load and run nothing. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const BASE_SCRIPTS: readonly AssetName[] = ["page.js"];

export function renderExplorerPage(view: PageView, page: PageContext): Html {
  const { head } = page;
  const blockTime = page.block === null ? null : formatSeconds(shownTime(page) ?? "");
  const changes = view.changes ?? { previous: head.previous_event_block, next: head.next_event_block };
  const body = html`${blockBar(page, changes)}
<main id="main"${blockTime !== null && html` data-block-time="${blockTime.iso}"`}>
<header class="title">${view.kicker !== undefined && html`<p class="kicker">${view.kicker}</p>`}<div class="title-line"><h1>${view.title}${view.name !== undefined && html` <span class="given">${view.name}</span>`}</h1>${view.afterTitle}</div>${view.lead !== undefined && html`<p class="lead">${view.lead}</p>`}</header>
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
function renderFrame({ title, site, request, scripts = BASE_SCRIPTS }: DocumentParts, body: Html): Html {
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
  return html`<form class="search" role="search" method="get" action="${pagePath({ base }, "/search")}"><label class="hidden" for="q">Search by id, address, hash or name</label><input type="search" id="q" name="q" value="${value}" placeholder="Name, id or 0x…" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" required>${block !== null && html`<input type="hidden" name="block" value="${block}">`}<button>Search</button></form>`;
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
  return html`<p class="past-text" role="status">As of block <strong>${formatNumber(head.block_number).text}</strong>, ${time(shownTime(page))} – <a href="${linkHere(page, { block: null, ...NO_PAGING })}" class="live">back to live</a></p>`;
}

function footer({ head, site, base }: PageContext): Html {
  const behind = BigInt(head.indexed_block) - BigInt(head.finalized_block);
  return html`<footer class="foot"><div class="wide"><dl class="state">
<div><dt>Network</dt><dd>${site.chain.network} <span class="soft">(${site.chain.chainId})</span></dd></div>
<div><dt>Indexed</dt><dd>block <span data-live="indexed">${formatNumber(head.indexed_block).text}</span></dd></div>
<div><dt>Block time</dt><dd>${time(head.indexed_timestamp)}</dd></div>
<div><dt>Final</dt><dd>block ${formatNumber(head.finalized_block).text} <span class="soft">(${formatNumber(behind.toString()).text} behind)</span></dd></div>
</dl><p class="soft">Every page is a view of the <a href="${base}/docs">API</a>: the same data, with curl and code to copy. Signed and proven responses can be <a href="${base}/verify">checked</a>. Names and links in records were written by third parties.</p></div></footer>`;
}

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
function deploymentName(deployments: Site["deployments"], { base }: Pick<Place, "base">): string | null {
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

const TITLES: Readonly<Record<number, string>> = {
  400: "This cannot be read",
  404: "Nothing is here",
  429: "Too many requests",
  503: "Not available at the moment",
};

export function renderErrorPage(fault: Fault, site: Site, request: Place & { readonly path: string }): Html {
  const title = TITLES[fault.status] ?? "Something went wrong";
  const body = html`<main id="main" class="error">
<header class="title"><p class="kicker">${fault.status}</p><h1>${title}</h1><p class="lead">${publicMessage(fault)}</p></header>
<section class="card"><h2>What you can do</h2><ul class="plain">${adviceFor(fault, site, request).map((each) => html`<li>${each}</li>`)}</ul></section>
</main>`;
  return renderFrame({ title, site, request }, body);
}

/** A transaction that is not of the protocol may be on the chain all the same. */
function transactionAdvice({ chain }: Site, path: string): readonly Html[] {
  const [, hash] = /^\/transactions\/(0x[0-9a-fA-F]{64})$/.exec(path) ?? [];
  if (hash === undefined || chain.explorerUrl === null) return [];
  return [
    html`Only transactions of the protocol are here. Look for it in the <a href="${chain.explorerUrl}/tx/${hash}" rel="noopener noreferrer">explorer of the chain ↗</a>.`,
  ];
}

function adviceFor(
  fault: Fault,
  site: Site,
  { block, base, path }: Place & { readonly path: string },
): readonly Html[] {
  const live = html`See <a href="${linkTo({ block: null, base }, path)}">this page at the latest block</a>.`;
  const first = html`Begin at the <a href="${linkTo({ block, base }, "")}">first page</a>, or search by id, address or hash.`;
  if (fault.status === 404) {
    const later =
      block === null ? [] : [html`It may not exist yet at block ${shownNumber({ block })}. ${live}`];
    return [...later, ...transactionAdvice(site, path), first];
  }
  if (fault.status === 400)
    return [html`Check the address of the page.`, ...(block === null ? [] : [live]), first];
  if (fault.status === 429 || fault.retry) {
    const wait = fault.retryAfterSeconds ?? 1;
    return [html`Reload the page in ${wait === 1 ? "a second" : `${wait} seconds`}.`];
  }
  return [
    html`Reload the page. If it stays, report the time and the address of the page to the operator.`,
    first,
  ];
}

const ENTRIES: Readonly<Record<AssetName, URL>> = {
  "explorer.css": new URL("./browser/explorer.css", import.meta.url),
  "page.js": new URL("./browser/page.ts", import.meta.url),
  "live-feed.js": new URL("./browser/live-feed.ts", import.meta.url),
};

type Asset = {
  readonly path: string;
  readonly type: string;
  readonly text: string;
  /** Responses by encoding: compressing everything at once would take longer than the page that asks for it. */
  readonly responses: Map<string, SerializedResponse>;
};

const FOLDER = `${EXPLORER_PATH}/assets/`;
const HASH_LENGTH = 12;

let built: ReadonlyMap<string, Asset> | null = null;

/** The assets by their names. The first page builds them, so that a start does not wait for it. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const texts = built === null ? buildForBrowser(...Object.values(ENTRIES)) : [];
  built ??= new Map(Object.keys(ENTRIES).map((name, index) => [name, createAsset(name, texts[index] ?? "")]));
  return built;
}

function createAsset(name: string, text: string): Asset {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
  const path = FOLDER + name.replace(/\.(\w+)$/, `.${hash}.$1`);
  const type = name.endsWith(".css") ? "text/css" : "text/javascript";
  return { path, type, text, responses: new Map() };
}

function assetPath(name: AssetName): string {
  return loadAssets().get(name)?.path ?? "";
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => void;

export function addAssetRoute(app: FastifyInstance, respondUnknown: Handler): void {
  app.get<{ Params: { file: string } }>(`${FOLDER}:file`, (request, reply) => {
    const path = FOLDER + request.params.file;
    const asset = [...loadAssets().values()].find((each) => each.path === path);
    if (asset === undefined) return respondUnknown(request, reply);
    const encoding = chooseEncoding(request.headers["accept-encoding"], OFFERED.asset);
    const response = asset.responses.get(encoding) ?? encodeResponse(serializeAsset(asset), encoding);
    asset.responses.set(encoding, response);
    reply.sendSerialized(response);
  });
}

// The name changes with the content, so that a copy is never stale.
const CACHE_CONTROL = "public, max-age=31536000, immutable";

function serializeAsset({ path, type, text }: Asset): SerializedResponse {
  return serializeResponse({
    route: path,
    body: Buffer.from(text),
    computeEtag: true,
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": CACHE_CONTROL,
      vary: "accept-encoding",
    },
  });
}

type Encoding = "br" | "gzip" | "identity";

/** In the order of our preference. Pages change with every block, and brotli takes ten times as long as gzip. */
export const OFFERED = { asset: ["br", "gzip"], page: ["gzip"] } as const;

/** The first of ours that the client accepts; identity if it accepts none, or says nothing. */
export function chooseEncoding(
  header: string | string[] | undefined,
  offered: readonly Encoding[],
): Encoding {
  const accepted = new Map<string, boolean>();
  for (const part of [header ?? ""].flat().join(",").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    const isRejected = parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
    if (name !== "") accepted.set(name, !isRejected);
  }
  return offered.find((encoding) => accepted.get(encoding) ?? accepted.get("*") ?? false) ?? "identity";
}

const COMPRESS = { br: brotliCompressSync, gzip: gzipSync } as const;

/** Another representation of the same response, with an ETag of its own. A failed response is short and stays as it is. */
export function encodeResponse(response: SerializedResponse, encoding: Encoding): SerializedResponse {
  const { route, status, headers, body } = response;
  if (encoding === "identity" || status !== 200) return response;
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ""] as const] : [],
  );
  return serializeResponse({
    route,
    body: COMPRESS[encoding](body),
    computeEtag: true,
    headers: { ...Object.fromEntries(pairs), "content-encoding": encoding },
  });
}
