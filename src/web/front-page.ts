// Renders the front page of the portfolio service for people.
import { escapeHtml } from "../lib/html.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";
import { type HtmlPage, readPageStyle, renderPage } from "./page.ts";

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
