// Runs the page: the form becomes a request, the wallet pays for it, the snapshot is rendered.
import { isPaymentPending, readStoredResult, requestPaidSnapshot } from "./paid-request.js";
import { renderSnapshot } from "./snapshot-view.js";
import { findWallet, requestAccount, signTypedData, switchChain } from "./wallet.js";

/**
 * @typedef {{path: string, priceUsd: string, terms: import("./payment.js").Terms}} Offer
 * @type {Offer & import("./snapshot-view.js").ChainInfo}
 */
const offer = JSON.parse(byId("offer").textContent ?? "");
const form = /** @type {HTMLFormElement} */ (byId("snapshot-form"));
const button = /** @type {HTMLButtonElement} */ (byId("pay"));
const status = byId("status");
const result = byId("result");

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/** @param {string} text @param {"" | "busy" | "bad"} look */
function showStatus(text, look) {
  status.textContent = text;
  status.className = look;
}

/** The URL of the request: the same input gives the same URL, so that its stored payment is found again. */
function readFormUrl() {
  const given = new FormData(form);
  const query = new URLSearchParams({ address: String(given.get("address")).trim().toLowerCase() });
  const chains = given.getAll("chains").join(",");
  return `${offer.path}?${query}${chains === "" ? "" : `&chains=${chains}`}`;
}

/** @returns {import("./paid-request.js").Payer} */
function createPayer() {
  /** @type {import("./wallet.js").Wallet | null} */
  let wallet = null;
  return {
    async account(terms) {
      wallet = await findWallet();
      if (!wallet)
        throw new Error("There is no wallet in this browser. Install one, or pay from a program: see below.");
      const account = await requestAccount(wallet);
      await switchChain(wallet, terms.network, offer.paymentChain);
      return account;
    },
    signTypedData(account, data) {
      if (!wallet) throw new Error("There is no wallet to sign with.");
      return signTypedData(wallet, account, data);
    },
  };
}

async function run() {
  const url = readFormUrl();
  history.replaceState(null, "", url);
  button.disabled = true;
  result.replaceChildren();
  try {
    const showProgress = (/** @type {string} */ text) => showStatus(text, "busy");
    showSnapshot(await requestPaidSnapshot(url, offer.terms, createPayer(), showProgress));
    showStatus("Snapshot received.", "");
  } catch (error) {
    showStatus(error instanceof Error ? error.message : String(error), "bad");
  } finally {
    button.disabled = false;
    labelButton(url);
  }
}

/** @param {import("./paid-request.js").PaidSnapshot} paid */
function showSnapshot(paid) {
  result.replaceChildren(...renderSnapshot(paid, offer));
}

/** The label says whether the request is paid for already. @param {string} url */
function labelButton(url) {
  button.textContent = isPaymentPending(url) ? "Retry, already paid" : `Pay $${offer.priceUsd}`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void run();
});
form.addEventListener("input", () => labelButton(readFormUrl()));

/** Fills the form from the URL of the page. */
function fillForm() {
  const query = new URLSearchParams(location.search);
  const address = query.get("address");
  if (address !== null) /** @type {HTMLInputElement} */ (byId("address")).value = address;
  // The service accepts short names too, such as eth: prefixes of the full ones.
  const chains = query.get("chains")?.toLowerCase().split(",").filter(Boolean);
  for (const box of form.querySelectorAll("input[type=checkbox]")) {
    const input = /** @type {HTMLInputElement} */ (box);
    if (chains) input.checked = chains.some((name) => input.value.startsWith(name.trim()));
  }
}

fillForm();
labelButton(readFormUrl());
const stored = readStoredResult(readFormUrl());
if (isPaymentPending(readFormUrl())) void run();
else if (stored) {
  showSnapshot(stored);
  showStatus("Bought earlier in this tab. Paying again takes a new snapshot.", "");
}
