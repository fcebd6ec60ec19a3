// The first page of the service, for people who come without knowing what it is.
import { escapeHtml } from "../lib/html.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";
import { type HtmlPage, readPageStyle, renderPage } from "./page.ts";

export function renderFrontPage(
  { description: about, routes }: Offering,
  links: readonly DocumentLink[],
): HtmlPage {
  const sold = routes.map(
    ({ path, priceUsd, description, terms }) =>
      `<section class="card"><h2><a href="${escapeHtml(path)}">${escapeHtml(path)}</a> · $${escapeHtml(priceUsd)}</h2><p>${escapeHtml(description)}</p><p class="soft">Paid per request with x402 on ${escapeHtml(terms.network)}. Open it in a browser with a wallet, or call it from a program.</p></section>`,
  );
  const listed = links.map(
    ({ path, title, description: meaning }) =>
      `<dt><a href="${escapeHtml(path)}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(meaning)}</dd>`,
  );
  const main = `<h1>Where does this wallet stand?</h1>
<p class="lead">${escapeHtml(about)}</p>
${sold.join("\n")}
<section class="card"><h2>Free of charge</h2><dl class="facts">
${listed.join("\n")}
</dl></section>`;
  return renderPage({ title: "Sextant portfolio service", style: readPageStyle(), main, script: null });
}
