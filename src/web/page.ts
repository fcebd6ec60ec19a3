// Self-contained pages, with a policy that allows exactly their own style and script; and who gets one instead of JSON.

import { readFileSync } from "node:fs";
import { FAVICON_PATH, renderMark } from "../http/icon.ts";
import { cspSourceHash, escapeHtml } from "../lib/html.ts";

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

type HtmlPageParts = {
  readonly title: string;
  readonly style: string;
  readonly main: string;
  /** The pages for people alongside this one. */
  readonly links: readonly { readonly path: string; readonly label: string }[];
  /** A module, or null for a static page. */
  readonly script: string | null;
};

export function renderPage({ title, style, main, links, script }: HtmlPageParts): HtmlPage {
  const nav = [...links, { path: "/docs", label: "API" }, { path: "/llms.txt", label: "For agents" }].map(
    ({ path, label }) => `<a href="${escapeHtml(path)}">${escapeHtml(label)}</a>`,
  );
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${FAVICON_PATH}">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/">${renderMark()}Sextant</a><nav aria-label="Pages">${nav.join("")}</nav></header>
<main id="main">
${main}
</main>
<footer><p>This page loads nothing from other sites. A snapshot is information, not advice.</p></footer>
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

/** The field for a wallet; `id` is also the key of the query. A name is redirected to its address, also without script. */
export function renderAddressField(): string {
  return `<label for="address">Wallet address or name</label>
<input type="text" id="address" name="address" required maxlength="255" pattern="\\s*(0x[a-fA-F0-9]{40}|[^\\s.]+(\\.[^\\s.]+)+)\\s*" title="0x followed by 40 hex digits, or a name such as vitalik.eth" placeholder="0x… or name.eth" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">`;
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

// What every pay page has, before the modules of its view. Each stands after its imports: concatenated they form one
// module, so top-level names must be unique.
const MODULES = [
  "checksum.js",
  "payment.js",
  "wallet.js",
  "paid-request.js",
  "amounts.js",
  "elements.js",
  "texts.js",
  "notes.js",
  "result-view.js",
  "dom.js",
  "progress.js",
  "pay-form.js",
];

// Later files override earlier ones of the same specificity.
const STYLES = ["theme.css", "page.css", "snapshot.css", "exposure.css", "loans.css", "print.css"];

export function readPageStyle(): string {
  return STYLES.map(readSource).join("");
}

/** One module without imports: the policy allows it by one hash, and the browser fetches nothing else. */
export function readPageScript(viewModules: readonly string[]): string {
  return [...MODULES, ...viewModules].map((name) => stripModuleSyntax(readSource(name))).join("\n");
}

function stripModuleSyntax(text: string): string {
  return text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
}

function readSource(name: string): string {
  return readFileSync(new URL(`./pay-page/${name}`, import.meta.url), "utf8");
}
