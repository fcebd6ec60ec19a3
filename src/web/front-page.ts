// The first page of the service, for people who come without knowing what it is.
import { escapeHtml } from "../lib/html.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";
import { type Page, page } from "./page.ts";
import { pageStyle } from "./page-sources.ts";

export function frontPage({ about, routes }: Offering, links: readonly DocumentLink[]): Page {
  const sold = routes.map(
    ({ path, priceUsd, description, terms }) =>
      `<section class="card"><h2><a href="${escapeHtml(path)}">${escapeHtml(path)}</a> · $${escapeHtml(priceUsd)}</h2><p>${escapeHtml(description)}</p><p class="soft">Paid per request with x402 on ${escapeHtml(terms.network)}. Open it in a browser with a wallet, or call it from a program.</p></section>`,
  );
  const listed = links.map(
    ({ path, title, meaning }) =>
      `<dt><a href="${escapeHtml(path)}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(meaning)}</dd>`,
  );
  const main = `<h1>Where does this wallet stand?</h1>
<p class="lead">${escapeHtml(about)}</p>
${sold.join("\n")}
<section class="card"><h2>Free of charge</h2><dl class="facts">
${listed.join("\n")}
</dl></section>`;
  return page({ title: "Sextant portfolio service", style: pageStyle(), main, script: null });
}
