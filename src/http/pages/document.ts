// Pages that have their style and script inside, each with the policy that allows exactly those.
import { createHash } from "node:crypto";
import {
  type DocumentParts,
  html,
  inlineModule,
  inlineStyle,
  renderDocument,
  renderHtml,
} from "../../lib/html.ts";
import { buildForBrowser } from "./build-for-browser.ts";

export type HtmlPage = { readonly html: string; readonly contentSecurityPolicy: string };

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
