// The page for an address that the portfolio service does not have: a way back, and the field for a wallet.
import type { HtmlPage } from "../http/pages/document.ts";
import { html } from "../lib/html.ts";
import type { Offering } from "./offering.ts";
import { renderAddressField, renderPage } from "./page.ts";
import { listPayPages } from "./pay-pages.ts";

export function renderUnknownPage(offering: Offering): HtmlPage {
  const pages = listPayPages(offering);
  const [first] = pages;
  const search =
    first !== undefined &&
    html`<form class="card search" method="get" action="${first.path}">
${renderAddressField()}
<div class="actions"><button>${first.choice}</button></div>
</form>`;
  const main = html`<h1>There is nothing at this address</h1>
<p class="lead">The address may be mistyped or incomplete. <a href="/">Back to the front page</a>, or open a wallet:</p>
${search}`;
  return renderPage({ title: "Nothing at this address", main, links: pages, script: null });
}
