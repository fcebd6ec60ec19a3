// Renders the page that checks a stored response in the browser: the file never leaves the machine of its reader.
import type { HtmlPage } from "../http/pages/document.ts";
import { html } from "../lib/html.ts";
import { renderPage } from "./page.ts";

export const VERIFY_PATH = "/verify";

type VerifyPageInput = {
  /** The pages of the same service. */
  readonly links: readonly { readonly path: string; readonly label: string }[];
  /** The path below which the service is; empty at the root. */
  readonly base?: string;
};

export function renderVerifyPage({ links, base = "" }: VerifyPageInput): HtmlPage {
  const main = html`<h1>Check a response</h1>
<p class="lead">Choose the file of a response. Its signature, receipt and Merkle proofs are checked here, in your browser: the file is not sent anywhere.</p>
<form id="verify-form" class="card">
<label for="file">File</label>
<p class="soft hint" id="file-hint">What <code>sextant wallet … --save FILE</code> wrote, or the JSON of a response, such as a record of the index read with <code>proof=1</code>.</p>
<input type="file" id="file" accept="application/json,.json" aria-describedby="file-hint">
<label for="blocks">Hashes of blocks that you know, if any</label>
<p class="soft hint" id="blocks-hint">A proof counts once anyone other than the service vouches for its block. Compare the hash with a node or an explorer of yours.</p>
<input type="text" id="blocks" placeholder="0x…" aria-describedby="blocks-hint" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
<label for="key">Public key of the service, if you know it</label>
<p class="soft hint" id="key-hint">43 characters, or the JSON of its <code>/.well-known/http-message-signatures-directory</code>, which says when each key counts.</p>
<input type="text" id="key" aria-describedby="key-hint" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
<label for="deployment">Contract of the protocol, for a record of the index, if you know it</label>
<p class="soft hint" id="deployment-hint">Its address, or the JSON of a deployment file.</p>
<input type="text" id="deployment" placeholder="0x…" aria-describedby="deployment-hint" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
<noscript><p class="notice">The check runs in your browser and needs JavaScript. Without it, run <code>sextant verify FILE</code>.</p></noscript>
</form>
<div id="status" role="status"></div>
<div id="result" aria-label="Result" role="region"></div>
<section class="card"><h2>What proven means</h2><ul class="plain">
<li>Proven: the state of the block holds exactly this value. The service could not have changed it.</li>
<li>Proven if the block is real: the same, once you know that the block is on the chain. The command <code>sextant verify FILE --rpc URL --rpc URL</code> asks nodes of your choice.</li>
<li>Proven if the layout is right: the service says in which slot the token keeps balances; a node can confirm it.</li>
<li>Proven if the contract is yours: a record of the index is what this contract stores. Compare its address with one that you know.</li>
<li>Signed only: you have the word of the service, and can show it. Unknown: not even that.</li>
<li>Prices, symbols and decimals are never proven, nor that the response lists everything.</li>
</ul></section>`;
  const script = new URL("./verify-page/browser/verify-page.ts", import.meta.url);
  return renderPage({ title: "Check a response · Sextant", main, links, script, base });
}
