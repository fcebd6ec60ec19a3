// Renders self-contained pages, with a policy that allows exactly their own style and script.
import { readFileSync } from "node:fs";
import { cspSourceHash, escapeHtml } from "../lib/html.ts";

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

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

export type HtmlPageParts = {
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
<link rel="icon" href="data:,">
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
    // The empty icon, so that browsers do not request one.
    "img-src data:",
    ...(script === null ? [] : [`script-src '${cspSourceHash(script)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}
