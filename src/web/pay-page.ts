// Renders the page that browsers get instead of JSON: it explains the offer, takes a payment, and shows the result.
import { escapeHtml, jsonForHtml } from "../lib/html.ts";
import type { Offering, PaidRoute } from "./offering.ts";
import { type HtmlPage, readPageScript, readPageStyle, renderAddressField, renderPage } from "./page.ts";
import { findPayPage, listPayPages, type PayPageField } from "./pay-pages.ts";

export type PayPageChain = {
  readonly slug: string;
  readonly name: string;
  /** The explorer's URL of a transaction, with `{hash}` in it; null without an explorer. */
  readonly explorerTxUrl: string | null;
};

export type PaymentPageChain = PayPageChain & {
  /** What a wallet needs to add the chain (EIP-3085); null if it has to know the chain by itself. */
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

// Of a link to the page: they change what is read. Others shape the response, which the page needs whole.
const LINKED_OPTIONS = ["spam", "partial"];

/** Of a route that has a pay page. */
export function renderPayPage(input: PayPageInput): HtmlPage {
  const { offering, route, chains, paymentChain } = input;
  const { priceUsd, path, terms, query } = route;
  const page = findPayPage(path);
  if (page === null) throw new TypeError(`There is no pay page of ${path}.`);
  const { noun } = page;
  const links = listPayPages(offering);
  const others = links
    .filter((other) => other.path !== path)
    .map((other) => ({ path: other.path, heading: other.heading }));
  const options = LINKED_OPTIONS.filter((name) => name in query);
  const offer = { path, noun, priceUsd, terms, options, chains, paymentChain, others };
  const main = `<h1>${escapeHtml(page.heading)}</h1>
<p class="lead">${escapeHtml(route.description)}</p>
<form id="pay-form" class="card" method="get" action="${escapeHtml(path)}">
${renderAddressField()}
${page.hasChains ? renderChains(chains, input.defaultChains) : ""}
${page.fields.map((field) => renderField(field, query[field.name] ?? "")).join("\n")}
<div class="actions"><button id="pay">Pay $${escapeHtml(priceUsd)}</button><p class="soft">Paid from your wallet: you sign a transfer of ${escapeHtml(terms.extra.name)} on ${escapeHtml(paymentChain.name)}. No gas, no account, no subscription.</p></div>
<ol id="steps" class="steps" aria-label="Progress" hidden>
<li data-step="price">Price</li><li data-step="wallet">Wallet</li><li data-step="signature">Signature</li><li data-step="result">${escapeHtml(noun)}</li>
</ol>
<div id="status" role="status"></div>
<noscript><p class="notice">Paying from this page needs JavaScript. Without it, pay from a program: see below. Nothing was paid.</p></noscript>
</form>
<div id="result" aria-label="${escapeHtml(noun)}" role="region"></div>
<div class="two about">
<section class="card"><h2>What you get</h2><ul class="plain">
${page.gets.map((line) => `<li>${escapeHtml(line)}</li>`).join("\n")}
</ul></section>
<section class="card"><h2>How payment works</h2>
${renderPaymentTerms(route)}
</section>
</div>
${renderProgramCard(offering, path)}
${renderOtherRoutes(offering, route)}
<script type="application/json" id="offer">${jsonForHtml(offer)}</script>`;
  return renderPage({
    title: `${page.heading} · Sextant`,
    style: readPageStyle(),
    main,
    links,
    script: readPageScript(page.modules),
  });
}

function renderChains(chains: readonly PayPageChain[], selected: readonly string[]): string {
  return `<fieldset><legend>Chains</legend><div class="chains">
${chains.map((chain) => renderChainBox(chain, selected)).join("\n")}
</div></fieldset>`;
}

function renderField({ name, label, required }: PayPageField, example: string): string {
  const id = escapeHtml(name);
  return `<label for="${id}">${escapeHtml(label)}</label>
<input type="text" id="${id}" name="${id}"${required ? " required" : ""} placeholder="${escapeHtml(example)}" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">`;
}

function renderChainBox({ slug, name }: PayPageChain, selected: readonly string[]): string {
  const checked = selected.includes(slug) ? " checked" : "";
  return `<label><input type="checkbox" name="chains" value="${escapeHtml(slug)}"${checked}> ${escapeHtml(name)}</label>`;
}

/** What a payer agrees to, as a list. */
export function renderPaymentTerms({ priceUsd, terms }: PaidRoute): string {
  return `<ul class="plain">
<li>You sign one transfer of exactly $${escapeHtml(priceUsd)}; we send it and pay its gas</li>
<li>You are charged only for what is delivered. If something fails, the page retries with the same signature and never charges it twice</li>
<li>The signature is valid for this request only, for ${escapeHtml(terms.maxTimeoutSeconds)} seconds</li>
</ul>`;
}

/** What else is sold, with its price; nothing where there is one route. */
export function renderOtherRoutes({ routes }: Offering, shown: PaidRoute): string {
  const others = routes.filter(({ path }) => path !== shown.path);
  if (others.length === 0) return "";
  const items = others.map(({ method, path, summary, description, priceUsd }) => {
    const name = escapeHtml(summary);
    const title = findPayPage(path) === null ? name : `<a href="${escapeHtml(path)}">${name}</a>`;
    return `<div><dt>${title}: <code>${escapeHtml(`${method} ${path}`)}</code>, $${escapeHtml(priceUsd)}</dt><dd>${escapeHtml(description)}</dd></div>`;
  });
  return `<section class="card"><h2>Also sold here</h2><dl class="facts links">
${items.join("\n")}
</dl></section>`;
}

/** How a program asks for the same. */
export function renderProgramCard({ origin }: Offering, path: string): string {
  return `<section class="card programs"><h2>For programs</h2>
<p>The same URL returns JSON to programs, paid with x402. Without a payment it returns the terms:</p>
<pre tabindex="0" aria-label="Command"><code>curl -i '${escapeHtml(origin + path)}?address=0x…'</code></pre>
<p><a href="/llms-full.txt">How to pay, and every field</a> · <a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a></p>
</section>`;
}
