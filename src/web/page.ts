// Self-contained pages, with a policy that allows exactly their own style and script; and who gets one instead of JSON.

import { readFileSync } from "node:fs";
import { cspSourceHash, escapeHtml } from "../lib/html.ts";
import { FAVICON_PATH } from "./icon.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

type HtmlPageParts = {
  readonly title: string;
  readonly style: string;
  readonly main: string;
  /** A module, or null for a static page. */
  readonly script: string | null;
};

export function renderPage({ title, style, main, script }: HtmlPageParts): HtmlPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${FAVICON_PATH}">
<style>${style}</style>
</head>
<body>
<header class="top"><a class="brand" href="/">Sextant</a><nav><a href="/portfolio">Portfolio</a><a href="/docs">API</a><a href="/llms.txt">For agents</a></nav></header>
<main>
${main}
</main>
<footer>This page loads nothing from other sites. A snapshot is information, not advice.</footer>
${script === null ? "" : `<script type="module">${script}</script>\n`}</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${cspSourceHash(style)}'`,
    // The icon.
    "img-src 'self'",
    ...(script === null ? [] : [`script-src '${cspSourceHash(script)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}

/** The front page of the portfolio service, for people. */
export function renderFrontPage({ description, routes }: Offering, links: readonly DocumentLink[]): HtmlPage {
  const paid = routes.map(
    ({ path, priceUsd, description, terms }) =>
      `<section class="card"><h2><a href="${escapeHtml(path)}">${escapeHtml(path)}</a> · $${escapeHtml(priceUsd)}</h2><p>${escapeHtml(description)}</p><p class="soft">Paid per request with x402 on ${escapeHtml(terms.network)}. Open it in a browser with a wallet, or call it from a program.</p></section>`,
  );
  const free = links.map(
    (link) =>
      `<dt><a href="${escapeHtml(link.path)}">${escapeHtml(link.title)}</a></dt><dd>${escapeHtml(link.description)}</dd>`,
  );
  const main = `<h1>Wallet portfolio snapshots</h1>
<p class="lead">${escapeHtml(description)}</p>
${paid.join("\n")}
<section class="card"><h2>Free of charge</h2><dl class="facts">
${free.join("\n")}
</dl></section>`;
  return renderPage({ title: "Sextant portfolio service", style: readPageStyle(), main, script: null });
}

/**
 * Decides between a page and JSON by the Accept header: true only if `text/html` is listed and weighs more than JSON.
 * When in doubt, the client is a program.
 */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map(readRange);
  const weight = (...names: readonly string[]) => {
    for (const name of names) {
      const found = ranges.find(({ type }) => type === name);
      if (found) return found.weight;
    }
    return 0;
  };
  return weight("text/html") > weight("application/json", "application/*", "*/*");
}

function readRange(text: string): { readonly type: string; readonly weight: number } {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const given = parameters.find((part) => part.startsWith("q="));
  const weight = given === undefined ? 1 : Number(given.slice(2));
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}

// Each after its imports: concatenated in this order they form one module, so top-level names must be unique.
const MODULES = [
  "payment.js",
  "wallet.js",
  "paid-request.js",
  "amounts.js",
  "elements.js",
  "allocation.js",
  "snapshot-view.js",
  "main.js",
];

// Later files override earlier ones of the same specificity.
const STYLES = ["theme.css", "page.css", "snapshot.css"];

export function readPageStyle(): string {
  return STYLES.map(readSource).join("");
}

/** One module without imports: the policy allows it by one hash, and the browser fetches nothing else. */
export function readPageScript(): string {
  return MODULES.map((name) => stripModuleSyntax(readSource(name))).join("\n");
}

function stripModuleSyntax(text: string): string {
  return text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
}

function readSource(name: string): string {
  return readFileSync(new URL(`./pay-page/${name}`, import.meta.url), "utf8");
}
