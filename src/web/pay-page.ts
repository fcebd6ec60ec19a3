// Renders the page that browsers get instead of JSON: it explains the offer, takes a payment, and shows the snapshot.
import { escapeHtml, jsonForHtml } from "../lib/html.ts";
import type { Offering, PaidRoute } from "./offering.ts";
import { type HtmlPage, readPageScript, readPageStyle, renderPage } from "./page.ts";

export type PayPageChain = {
  readonly slug: string;
  readonly name: string;
  /** The explorer's URL of a transaction, with `{hash}` in it; null without an explorer. */
  readonly explorerTxUrl: string | null;
};

export type PaymentPageChain = PayPageChain & {
  /** What a wallet needs to add the chain (EIP-3085); null where it has to know the chain by itself. */
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

export function renderPayPage(input: PayPageInput): HtmlPage {
  const { offering, route, chains, paymentChain } = input;
  const { priceUsd, path, terms } = route;
  const offer = { path, priceUsd, terms, chains, paymentChain };
  const main = `<h1>What is in this wallet?</h1>
<p class="lead">${escapeHtml(route.description)} One snapshot costs $${escapeHtml(priceUsd)}, paid from your wallet. No account, no subscription.</p>
<form id="snapshot-form" class="card" method="get" action="${escapeHtml(path)}">
<label for="address">Wallet address</label>
<input type="text" id="address" name="address" required pattern="\\s*0x[a-fA-F0-9]{40}\\s*" title="0x followed by 40 hex digits" placeholder="0x…" autocomplete="off" autocapitalize="off" spellcheck="false">
<fieldset><legend>Chains</legend><div class="chains">
${chains.map((chain) => renderChainBox(chain, input.defaultChains)).join("\n")}
</div></fieldset>
<div class="actions"><button id="pay">Pay $${escapeHtml(priceUsd)}</button> <small class="soft">You sign a ${escapeHtml(terms.extra.name)} transfer on ${escapeHtml(paymentChain.name)}; no gas needed.</small></div>
<p id="status" role="status"></p>
<noscript><p>Paying from this page needs JavaScript. Programs can pay without it: see below.</p></noscript>
</form>
<div id="result" aria-label="Snapshot" role="region"></div>
<div class="two">
<section class="card"><h2>What you get</h2><ul class="plain">
<li>Every known token of the wallet on the chains you choose, read at one block per chain</li>
<li>Prices from on-chain oracles first, with the source of each price</li>
<li>Lending, vaults, staking and liquidity positions; debts subtracted, nothing counted twice</li>
<li>Spam marked and left out of the total, recent activity, and warnings about anything unknown</li>
</ul></section>
<section class="card"><h2>How payment works</h2><ul class="plain">
<li>You sign one transfer of exactly $${escapeHtml(priceUsd)}; we send it and pay its gas</li>
<li>You are charged only for a delivered snapshot. If something fails, the page retries with the same signature and never charges it twice</li>
<li>The signature is valid for this request only, for ${escapeHtml(terms.maxTimeoutSeconds)} seconds</li>
</ul></section>
</div>
<section class="card"><h2>For programs</h2>
<p>The same URL returns JSON to programs, paid with <a href="/llms-full.txt">x402</a>. Without a payment it returns the terms:</p>
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

function renderChainBox({ slug, name }: PayPageChain, selected: readonly string[]): string {
  const checked = selected.includes(slug) ? " checked" : "";
  return `<label><input type="checkbox" name="chains" value="${escapeHtml(slug)}"${checked}> ${escapeHtml(name)}</label>`;
}
