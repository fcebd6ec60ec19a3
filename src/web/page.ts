// A page of ours: complete in itself, and a policy that lets exactly its own style and script run.
import { cspSourceHash, escapeHtml } from "../lib/html.ts";

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
