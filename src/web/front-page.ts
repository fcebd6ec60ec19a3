// The front page of the portfolio service, for people: where to begin, what it costs, and what comes back.
import type { HtmlPage } from "../http/pages/document.ts";
import { type Html, html, htmlElement } from "../lib/html.ts";
import { exampleSnapshot } from "../schema/portfolio/examples.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";
import { renderAddressField, renderPage } from "./page.ts";
import type { ViewChild } from "./pay-page/elements.ts";
import { createViewContext } from "./pay-page/result-view.ts";
import { renderSnapshot } from "./pay-page/snapshot-view.ts";
import { renderOtherRoutes, renderPaymentTerms, renderProgramCard } from "./pay-page.ts";
import { listPayPages, type PayPage } from "./pay-pages.ts";

type FrontPageInput = {
  readonly offering: Offering;
  /** The documents that are free of charge. */
  readonly links: readonly DocumentLink[];
  /** The chain on which payments settle, as people call it. */
  readonly paymentChainName: string;
};

export function renderFrontPage({ offering, links, paymentChainName }: FrontPageInput): HtmlPage {
  const [route] = offering.routes;
  if (!route) throw new TypeError("The offering has no route.");
  const { path, terms } = route;
  const pages = listPayPages(offering);
  const free = links.map(
    (link) => html`<div><dt><a href="${link.path}">${link.title}</a></dt><dd>${link.description}</dd></div>`,
  );
  const main = html`<h1>What a wallet holds, and what it is worth</h1>
<p class="lead">${offering.description}</p>
<form class="card search" method="get" action="${path}">
${renderAddressField()}
<div class="actions">${pages.map(renderChoice)}<p class="soft">${renderPrices(offering)}, in ${terms.extra.name} on ${paymentChainName}. The next page shows the chains to read and asks your wallet; nothing is paid before.</p></div>
</form>
<section class="example" aria-labelledby="example-title">
<div class="title"><h2 id="example-title">What you get</h2><p class="soft">An example: real fields, made-up numbers.</p></div>
${renderExample()}
</section>
<div class="two about">
<section class="card"><h2>How payment works</h2>
${renderPaymentTerms(route)}
</section>
${renderProgramCard(offering, path)}
</div>
${renderOtherRoutes(offering, route)}
<section class="card"><h2>Free of charge</h2><dl class="facts links">
${free}
</dl></section>`;
  return renderPage({ title: "Sextant portfolio service", main, links: pages, script: null });
}

/** The first is what the Enter key chooses; no script is needed. */
function renderChoice({ path, choice }: PayPage, index: number): Html {
  const look = index > 0 && html` class="second"`;
  return html`<button formaction="${path}"${look}>${choice}</button>`;
}

function renderPrices(offering: Offering): readonly Html[] {
  return listPayPages(offering).map(({ path, noun }, index) => {
    const { priceUsd = "", priceUsdPerChain = null } =
      offering.routes.find((route) => route.path === path) ?? {};
    const added = priceUsdPerChain !== null && html` and $${priceUsdPerChain} for each chain after the first`;
    return html`${index > 0 && ", "}<strong class="price">$${priceUsd}</strong> per ${noun.toLowerCase()}${added}`;
  });
}

/** Rendered by the code that the pay page runs in the browser, so that the example looks like what is sold. */
function renderExample(): readonly (Html | string)[] {
  const chains = exampleSnapshot.chains.map((slug) => ({
    slug,
    name: slug.replace(/^./, (letter) => letter.toUpperCase()),
    explorerTxUrl: null,
  }));
  return renderSnapshot(exampleSnapshot, createViewContext(chains, "UTC")).map(toHtml);
}

function toHtml(view: ViewChild): Html | string {
  return typeof view === "string" ? view : htmlElement(view.tag, view.attributes, view.children.map(toHtml));
}
