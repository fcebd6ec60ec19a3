// The document around the content of every page, and the policy of a page that has its style and script inside.
import { createHash } from "node:crypto";
import { type Html, html, inlineModule, inlineStyle, renderHtml } from "../../lib/html.ts";
import { buildForBrowser } from "./build-for-browser.ts";

export const FAVICON_PATH = "/favicon.svg";

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

type DocumentParts = {
  readonly title: string;
  /** Elements of the head that load style and scripts. */
  readonly assets: Html;
  readonly body: Html;
  /** The class of the document until its script runs. */
  readonly className?: string;
};

export function renderDocument({ title, assets, body, className }: DocumentParts): Html {
  return html`<!doctype html>
<html lang="en"${className !== undefined && html` class="${className}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${FAVICON_PATH}">
${assets}
</head>
<body>
${body}</body>
</html>
`;
}

type InlinePageParts = Omit<DocumentParts, "assets"> & {
  readonly style: URL;
  /** The module to run; null for a page without a script. */
  readonly script: URL | null;
  /** The targets of forms, as a policy names them. */
  readonly formAction: "'self'" | "'none'";
};

/** Renders a page in one response, with a policy that allows exactly its own style and script. */
export function renderInlinePage({ style, script, formAction, body, ...parts }: InlinePageParts): HtmlPage {
  const [css = "", module = ""] = script === null ? buildForBrowser(style) : buildForBrowser(style, script);
  const page = renderDocument({
    ...parts,
    assets: inlineStyle(css),
    body: script === null ? body : html`${body}${inlineModule(module)}\n`,
  });
  const policy = [
    "default-src 'none'",
    `style-src '${hashSource(css)}'`,
    // The icon.
    "img-src 'self'",
    ...(script === null ? [] : [`script-src '${hashSource(module)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ];
  return { html: renderHtml(page), contentSecurityPolicy: policy.join("; ") };
}

/** Names an inline style or script in a policy. */
function hashSource(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
