// The frame of the pages for people, and who gets one instead of JSON.
import { renderMark } from "../http/icon.ts";
import { type HtmlPage, renderInlinePage } from "../http/pages/document.ts";
import { type Html, html } from "../lib/html.ts";

type PageParts = {
  readonly title: string;
  readonly main: Html;
  /** The pages for people alongside this one. */
  readonly links: readonly { readonly path: string; readonly label: string }[];
  /** A module, or null for a static page. */
  readonly script: URL | null;
  /** The path below which the service is; empty at the root. */
  readonly base?: string;
};

const COMMON_LINKS = [
  { path: "/docs", label: "API" },
  { path: "/llms.txt", label: "For agents" },
];

export function renderPage({ title, main, links, script, base = "" }: PageParts): HtmlPage {
  const nav = [...links, ...COMMON_LINKS].map(
    ({ path, label }) => html`<a href="${base}${path}">${label}</a>`,
  );
  const body = html`<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="${base}/">${renderMark()}Sextant</a><nav aria-label="Pages">${nav}</nav></header>
<main id="main">
${main}
</main>
<footer><p>This page loads nothing from other sites. A snapshot is information, not advice: <a href="${base}/verify">check a response</a>.</p></footer>
`;
  const style = new URL("./pay-page/pay-page.css", import.meta.url);
  return renderInlinePage({ title, style, script, body, formAction: "'self'" });
}

/** The field for a wallet; `id` is also the key of the query. A name is redirected to its address, also without script. */
export function renderAddressField(): Html {
  return html`<label for="address">Wallet address or name</label>
<input type="text" id="address" name="address" required maxlength="255" pattern="\\s*(0x[a-fA-F0-9]{40}|[^\\s.]+(\\.[^\\s.]+)+)\\s*" title="0x followed by 40 hex digits, or a name such as vitalik.eth" placeholder="0x… or name.eth" aria-describedby="address-problem" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
${renderProblem("address")}`;
}

/** The script of a pay page says there what is wrong with a field. */
export function renderProblem(field: string): Html {
  return html`<p class="problem" id="${field}-problem"></p>`;
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
