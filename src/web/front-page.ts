// The front page of the portfolio service, for people: where to begin, what it costs, and what comes back.
import { escapeHtml } from "../lib/html.ts";
import { exampleSnapshot } from "../schema/portfolio/examples.ts";
import type { DocumentLink } from "./llms.ts";
import type { Offering } from "./offering.ts";
import { type HtmlPage, readPageStyle, renderAddressField, renderPage } from "./page.ts";
import type { ViewChild } from "./pay-page/elements.js";
import { createViewContext } from "./pay-page/result-view.js";
import { renderSnapshot } from "./pay-page/snapshot-view.js";
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
    (link) =>
      `<div><dt><a href="${escapeHtml(link.path)}">${escapeHtml(link.title)}</a></dt><dd>${escapeHtml(link.description)}</dd></div>`,
  );
  const main = `<h1>What a wallet holds, and what it is worth</h1>
<p class="lead">${escapeHtml(offering.description)}</p>
<form class="card search" method="get" action="${escapeHtml(path)}">
${renderAddressField()}
<div class="actions">${pages.map(renderChoice).join("")}<p class="soft">${renderPrices(offering)}, in ${escapeHtml(terms.extra.name)} on ${escapeHtml(paymentChainName)}. The next page shows the chains to read and asks your wallet; nothing is paid before.</p></div>
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
${free.join("\n")}
</dl></section>`;
  return renderPage({
    title: "Sextant portfolio service",
    style: readPageStyle(),
    main,
    links: pages,
    script: null,
  });
}

/** The first is what the Enter key chooses; no script is needed. */
function renderChoice({ path, choice }: PayPage, index: number): string {
  const look = index === 0 ? "" : ' class="second"';
  return `<button formaction="${escapeHtml(path)}"${look}>${escapeHtml(choice)}</button>`;
}

function renderPrices(offering: Offering): string {
  const prices = listPayPages(offering).map(({ path, noun }) => {
    const priceUsd = offering.routes.find((route) => route.path === path)?.priceUsd ?? "";
    return `<strong class="price">$${escapeHtml(priceUsd)}</strong> per ${escapeHtml(noun.toLowerCase())}`;
  });
  return prices.join(", ");
}

/** By the code that the pay page runs in the browser, so that the example looks like what is sold. */
function renderExample(): string {
  const chains = exampleSnapshot.chains.map((slug) => ({
    slug,
    name: slug.replace(/^./, (letter) => letter.toUpperCase()),
    explorerTxUrl: null,
  }));
  return renderSnapshot(exampleSnapshot, createViewContext(chains, "UTC")).map(renderHtml).join("\n");
}

function renderHtml(view: ViewChild): string {
  if (typeof view === "string") return escapeHtml(view);
  const { tag, attributes, children } = view;
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`);
  return `<${tag}${written.join("")}>${children.map(renderHtml).join("")}</${tag}>`;
}
