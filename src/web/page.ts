// A page of ours: complete in itself, and a policy that lets exactly its own style and script run.
import { readFileSync } from "node:fs";
import { cspSourceHash, escapeHtml } from "../lib/html.ts";

// The style and the script of our pages, read from the files they are written in.

// Each after what it imports: joined in this order they are one module.
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

// Later ones win over earlier ones of the same weight.
const STYLES = ["theme.css", "page.css", "snapshot.css"];

export function readPageStyle(): string {
  return STYLES.map(source).join("");
}

/** One module without imports: a policy names it by one hash, and a browser fetches nothing more. */
export function readPageScript(): string {
  return MODULES.map((name) => withoutModuleWords(source(name))).join("\n");
}

function withoutModuleWords(text: string): string {
  return text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
}

function source(name: string): string {
  return readFileSync(new URL(`./pay-page/${name}`, import.meta.url), "utf8");
}

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

export type HtmlPageParts = {
  readonly title: string;
  readonly style: string;
  readonly main: string;
  /** A module, or null for a page that does nothing. */
  readonly script: string | null;
};

export function renderPage({ title, style, main, script }: HtmlPageParts): HtmlPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header class="top"><a class="brand" href="/">Sextant</a><nav><a href="/portfolio">Portfolio</a><a href="/docs">API</a><a href="/llms.txt">For agents</a></nav></header>
<main>
${main}
</main>
<footer>Nothing on this page is loaded from elsewhere. A snapshot is information, not advice.</footer>
${script === null ? "" : `<script type="module">${script}</script>\n`}</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${cspSourceHash(style)}'`,
    // The empty icon, so that browsers do not ask for one.
    "img-src data:",
    ...(script === null ? [] : [`script-src '${cspSourceHash(script)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}
