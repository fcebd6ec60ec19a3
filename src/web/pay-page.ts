// Renders the page that browsers get instead of JSON: it explains the offer, takes a payment, and shows the result.
import type { HtmlPage } from "../http/pages/document.ts";
import { type Html, html, inlineJson } from "../lib/html.ts";
import { exampleDay } from "../lib/moment.ts";
import { formatRoutePrice, type Offering, type PaidRoute } from "./offering.ts";
import { renderAddressField, renderPage, renderProblem } from "./page.ts";
import { findPayPage, listPayPages, type PayPageField } from "./pay-pages.ts";

export type PayPageChain = {
  readonly slug: string;
  readonly name: string;
  /** The explorer's URL of a transaction, with `{hash}` in it; null without an explorer. */
  readonly explorerTxUrl: string | null;
};

export type PaymentPageChain = PayPageChain & {
  /** The parameters with which a wallet adds the chain (EIP-3085); null if it has to know the chain by itself. */
  readonly wallet: {
    readonly nativeCurrency: { readonly symbol: string; readonly name: string; readonly decimals: number };
    readonly rpcUrl: string;
  } | null;
};

type PayPageInput = {
  readonly offering: Offering;
  readonly route: PaidRoute;
  readonly chains: readonly PayPageChain[];
  readonly defaultChains: readonly string[];
  /** The chain on which payments settle. */
  readonly paymentChain: PaymentPageChain;
};

// Parameters of a link to the page that change what is read. Others shape the response, which the page needs whole.
const LINKED_OPTIONS = ["spam", "partial"];

/** The path of a route that has a pay page. */
export function renderPayPage(input: PayPageInput): HtmlPage {
  const { offering, route, chains, paymentChain } = input;
  const { priceUsd, prices, path, terms, query } = route;
  const page = findPayPage(path);
  if (page === null) throw new TypeError(`There is no pay page of ${path}.`);
  const { noun } = page;
  const links = listPayPages(offering);
  const others = links
    .filter((other) => other.path !== path)
    .map((other) => ({ path: other.path, heading: other.heading }));
  const options = LINKED_OPTIONS.filter((name) => name in query);
  const offer = { path, noun, prices, terms, options, chains, paymentChain, others };
  const main = html`<h1>${page.heading}</h1>
<p class="lead">${route.description}</p>
<form id="pay-form" class="card" method="get" action="${path}">
${renderAddressField()}
${renderChains(chains, input.defaultChains)}
${page.fields.map(renderField)}
<div class="actions"><button id="pay">Pay $${priceUsd}</button><p class="soft">Paid from your wallet: you sign a transfer of ${terms.extra.name} on ${paymentChain.name}. No gas, no account, no subscription.</p></div>
<ol id="steps" class="steps" aria-label="Progress" hidden>
<li data-step="price">Price</li><li data-step="wallet">Wallet</li><li data-step="signature">Signature</li><li data-step="result">${noun}</li>
</ol>
<div id="status" role="status"></div>
<noscript><p class="notice">Paying from this page needs JavaScript. Without it, pay from a program: see below. Nothing was paid.</p></noscript>
</form>
<div id="result" aria-label="${noun}" role="region"></div>
<div class="two about">
<section class="card"><h2>What you get</h2><ul class="plain">
${page.gets.map((line) => html`<li>${line}</li>`)}
</ul></section>
<section class="card"><h2>How payment works</h2>
${renderPaymentTerms(route)}
</section>
</div>
${renderProgramCard(offering, path)}
${renderOtherRoutes(offering, route)}
${inlineJson("offer", offer)}`;
  return renderPage({ title: `${page.heading} · Sextant`, main, links, script: page.script });
}

function renderChains(chains: readonly PayPageChain[], selected: readonly string[]): Html {
  return html`<fieldset aria-describedby="chains-problem"><legend>Chains</legend><div class="chains">
${chains.map((chain) => renderChainBox(chain, selected))}
</div>${renderProblem("chains")}</fieldset>`;
}

function renderField({ name, label, required, hint }: PayPageField): Html {
  return html`<label for="${name}">${label}</label>
<p class="soft hint" id="${name}-hint">${hint.replaceAll("{day}", exampleDay())}</p>
<input type="text" id="${name}" name="${name}"${required && html` required`} placeholder="7d or ${exampleDay()}" aria-describedby="${name}-hint ${name}-problem" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
${renderProblem(name)}`;
}

function renderChainBox({ slug, name }: PayPageChain, selected: readonly string[]): Html {
  const checked = selected.includes(slug) && html` checked`;
  return html`<label><input type="checkbox" name="chains" value="${slug}"${checked}> ${name}</label>`;
}

/** The terms that a payer agrees to, as a list. */
export function renderPaymentTerms(route: PaidRoute): Html {
  const { priceUsd, priceUsdPerChain, terms } = route;
  const exactly =
    priceUsdPerChain === null ? html`exactly $${priceUsd}` : html`the price: ${formatRoutePrice(route)}`;
  return html`<ul class="plain">
<li>You sign one transfer of ${exactly}; we send it and pay its gas</li>
<li>You are charged only for what is delivered. If something fails, the page retries with the same signature and never charges it twice</li>
<li>The signature is valid for this request only, for ${terms.maxTimeoutSeconds} seconds</li>
</ul>`;
}

/** The other routes that are sold, with their prices; nothing if there is one route. */
export function renderOtherRoutes({ routes }: Offering, shown: PaidRoute): Html | null {
  const others = routes.filter(({ path }) => path !== shown.path);
  if (others.length === 0) return null;
  const items = others.map((route) => {
    const { method, path, summary, description } = route;
    const title = findPayPage(path) === null ? summary : html`<a href="${path}">${summary}</a>`;
    return html`<div><dt>${title}: <code>${method} ${path}</code>, ${formatRoutePrice(route)}</dt><dd>${description}</dd></div>`;
  });
  return html`<section class="card"><h2>Also sold here</h2><dl class="facts links">
${items}
</dl></section>`;
}

/** How a program asks for the same. */
export function renderProgramCard({ origin }: Offering, path: string): Html {
  return html`<section class="card programs"><h2>For programs</h2>
<p>The same URL returns JSON to programs, paid with x402. Without a payment it returns the terms:</p>
<pre tabindex="0" aria-label="Command"><code>curl -i '${origin}${path}?address=0x…'</code></pre>
<p><a href="/llms-full.txt">How to pay, and every field</a> · <a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a></p>
</section>`;
}
