// Errors as pages: what happened, and what to do now.
import { type Fault, publicMessage } from "../lib/fault.ts";
import { type Html, html } from "../lib/html.ts";
import { linkTo, type Place, type Site } from "./context.ts";
import { renderFrame } from "./layout.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "This cannot be read",
  404: "Nothing is here",
  429: "Too many requests",
  503: "Not available at the moment",
};

export function renderErrorPage(fault: Fault, site: Site, request: Place & { readonly path: string }): Html {
  const title = TITLES[fault.status] ?? "Something went wrong";
  const body = html`<main id="main" class="error">
<header class="title"><p class="kicker">${fault.status}</p><h1>${title}</h1><p class="lead">${publicMessage(fault)}</p></header>
<section class="card"><h2>What you can do</h2><ul class="plain">${adviceFor(fault, site, request).map((each) => html`<li>${each}</li>`)}</ul></section>
</main>`;
  return renderFrame({ title, site, request }, body);
}

/** A transaction that is not of the protocol may be on the chain all the same. */
function transactionAdvice({ chain }: Site, path: string): readonly Html[] {
  const [, hash] = /^\/transactions\/(0x[0-9a-fA-F]{64})$/.exec(path) ?? [];
  if (hash === undefined || chain.explorerUrl === null) return [];
  return [
    html`Only transactions of the protocol are here. Look for it in the <a href="${chain.explorerUrl}/tx/${hash}" rel="noopener noreferrer">explorer of the chain ↗</a>.`,
  ];
}

function adviceFor(
  fault: Fault,
  site: Site,
  { block, base, path }: Place & { readonly path: string },
): readonly Html[] {
  const live = html`See <a href="${linkTo({ block: null, base }, path)}">this page at the latest block</a>.`;
  const first = html`Begin at the <a href="${linkTo({ block, base }, "")}">first page</a>, or search by id, address or hash.`;
  if (fault.status === 404) {
    const later = block === null ? [] : [html`It may not exist yet at block ${block}. ${live}`];
    return [...later, ...transactionAdvice(site, path), first];
  }
  if (fault.status === 400)
    return [html`Check the address of the page.`, ...(block === null ? [] : [live]), first];
  if (fault.status === 429 || fault.retry) {
    const wait = fault.retryAfterSeconds ?? 1;
    return [html`Reload the page in ${wait === 1 ? "a second" : `${wait} seconds`}.`];
  }
  return [
    html`Reload the page. If it stays, report the time and the address of the page to the operator.`,
    first,
  ];
}
