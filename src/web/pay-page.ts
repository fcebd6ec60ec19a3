// The page a browser gets instead of JSON: it explains what is sold, takes a payment from a wallet, and shows the answer.
import { escapeHtml, jsonForHtml } from "../lib/html.ts";
import type { Offering, PaidRoute } from "./offering.ts";
import { type HtmlPage, readPageScript, readPageStyle, renderPage } from "./page.ts";

export type PayPageChain = {
  readonly slug: string;
  readonly name: string;
  /** Where a transaction can be looked at, with `{hash}` in it; null where nobody shows it. */
  readonly explorerTxUrl: string | null;
};

export type PayPageInput = {
  readonly offering: Offering;
  readonly route: PaidRoute;
  readonly chains: readonly PayPageChain[];
  readonly defaultChains: readonly string[];
  /** The chain that is paid on. */
  readonly paymentChain: PayPageChain;
};

export function renderPayPage(parts: PayPageInput): HtmlPage {
  const { offering, route, chains, paymentChain: paidOn } = parts;
  const { priceUsd, path, terms } = route;
  const offer = { path, priceUsd, terms, chains, paidOn };
  const main = `<h1>What is in this wallet?</h1>
<p class="lead">${escapeHtml(route.description)} One look costs $${escapeHtml(priceUsd)}, paid from your wallet. No account, no subscription.</p>
<form id="question" class="card" method="get" action="${escapeHtml(path)}">
<label for="address">Wallet address</label>
<input type="text" id="address" name="address" required pattern="\\s*0x[a-fA-F0-9]{40}\\s*" title="0x followed by 40 hex digits" placeholder="0x…" autocomplete="off" autocapitalize="off" spellcheck="false">
<fieldset><legend>Chains</legend><div class="chains">
${chains.map((chain) => chainBox(chain, parts.defaultChains)).join("\n")}
</div></fieldset>
<div class="actions"><button id="pay">Pay $${escapeHtml(priceUsd)} and look</button> <small class="soft">A signature in ${escapeHtml(terms.extra.name)} on ${escapeHtml(paidOn.name)}; you need no gas.</small></div>
<p id="status" role="status"></p>
<noscript><p>Paying from this page needs JavaScript. Programs can pay without it: see below.</p></noscript>
</form>
<div id="result" aria-label="Snapshot" role="region"></div>
<div class="two">
<section class="card"><h2>What you get</h2><ul class="plain">
<li>Every known token of the wallet on the chains you choose, read at one block per chain</li>
<li>Prices from on-chain oracles first, and which one vouches for each</li>
<li>Lending, vaults, staking and liquidity, debts subtracted, nothing counted twice</li>
<li>Spam marked and left out of the total; recent activity; what could not be known</li>
</ul></section>
<section class="card"><h2>How it is paid</h2><ul class="plain">
<li>You sign one transfer of exactly $${escapeHtml(priceUsd)}; we send it and pay its gas</li>
<li>You are charged only for an answer. Should something fail, the same signature is asked with again and never charged twice</li>
<li>The signature is good for this question only and for ${escapeHtml(terms.maxTimeoutSeconds)} seconds</li>
</ul></section>
</div>
<section class="card"><h2>For programs</h2>
<p>The same address answers programs with JSON, paid by <a href="/llms-full.txt">x402</a>. Without payment it tells the terms:</p>
<pre><code>curl -i '${escapeHtml(offering.origin + path)}?address=0x…'</code></pre>
</section>
<script type="application/json" id="offer">${jsonForHtml(offer)}</script>`;
  return renderPage({
    title: "Wallet snapshot · Sextant",
    style: readPageStyle(),
    main,
    script: readPageScript(),
  });
}

function chainBox({ slug, name }: PayPageChain, chosen: readonly string[]): string {
  const checked = chosen.includes(slug) ? " checked" : "";
  return `<label><input type="checkbox" name="chains" value="${escapeHtml(slug)}"${checked}> ${escapeHtml(name)}</label>`;
}
