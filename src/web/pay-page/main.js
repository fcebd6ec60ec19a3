// Runs the page: the form becomes a request, the wallet pays for it, the snapshot is rendered.
import { buildNode, findById } from "./dom.js";
import { createElement } from "./elements.js";
import { isPaymentPending, readStoredResult, requestPaidSnapshot } from "./paid-request.js";
import { renderPlaceholder, showDone, showProblem, showProgress } from "./progress.js";
import { createViewContext, renderReceipt, renderSnapshot, renderTitle } from "./snapshot-view.js";
import { findWallet, requestAccount, signTypedData, switchChain } from "./wallet.js";

/**
 * @typedef {import("./snapshot-view.js").KnownChain} KnownChain
 * @typedef {import("./paid-request.js").PaidSnapshot} PaidSnapshot
 * @type {{path: string, priceUsd: string, terms: import("./payment.js").Terms, chains: KnownChain[], paymentChain: KnownChain & import("./wallet.js").WalletChain}}
 */
const offer = JSON.parse(findById("offer").textContent ?? "");
const form = /** @type {HTMLFormElement} */ (findById("snapshot-form"));
const button = /** @type {HTMLButtonElement} */ (findById("pay"));
const result = findById("result");
/** The request whose snapshot is shown. @type {string | null} */
let shownUrl = null;
let isRunning = false;

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
        throw new Error(
          "There is no wallet in this browser. Open this page in your wallet's own browser, install a wallet extension, or pay from a program: see below.",
        );
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
  setRunning(true);
  // What was bought for the same request stays until the new one is there.
  if (shownUrl !== url) result.replaceChildren(buildNode(renderPlaceholder()));
  try {
    showPaid(url, await requestPaidSnapshot(url, offer.terms, createPayer(), showProgress));
    showDone("Snapshot received.");
    findById("snapshot-title").focus();
  } catch (error) {
    if (shownUrl !== url) clearResult();
    showProblem(error, isPaymentPending(url));
  } finally {
    setRunning(false);
    labelButton(url);
  }
}

/** @param {boolean} running */
function setRunning(running) {
  isRunning = running;
  // A disabled button would lose the keyboard's focus.
  button.setAttribute("aria-disabled", String(running));
  result.setAttribute("aria-busy", String(running));
}

function clearResult() {
  result.replaceChildren();
  shownUrl = null;
}

/** @param {string} url @param {PaidSnapshot} paid */
function showPaid(url, { snapshot, receipt }) {
  const context = createViewContext(offer.chains);
  const views = [
    renderTitle(snapshot, context),
    receipt === null ? null : renderReceipt(receipt, offer),
    ...renderSnapshot(snapshot, context),
  ];
  result.replaceChildren(...views.filter((view) => view !== null).map((view) => buildNode(view)));
  result.querySelector(".title")?.append(...createTools(snapshot));
  shownUrl = url;
}

/** What a visitor can do with a snapshot. @param {PaidSnapshot["snapshot"]} snapshot */
function createTools(snapshot) {
  const tools = buildNode(
    createElement(
      "p",
      { class: "tools" },
      createElement(
        "a",
        { download: `wallet-${snapshot.address}.json`, class: "button quiet" },
        "Save as JSON",
      ),
      createElement("button", { type: "button", class: "quiet" }, "Print"),
    ),
  );
  const [save, print] = /** @type {[HTMLAnchorElement, HTMLButtonElement]} */ ([...tools.childNodes]);
  const file = new Blob([JSON.stringify(snapshot, null, 2)], { type: "application/json" });
  save.href = URL.createObjectURL(file);
  print.addEventListener("click", () => window.print());
  return [tools];
}

/** The label says whether the request is paid for already. @param {string} url */
function labelButton(url) {
  button.textContent = isPaymentPending(url) ? "Retry, already paid" : `Pay $${offer.priceUsd}`;
}

/** Without a chain the service would choose for the visitor. */
function validateChains() {
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[type=checkbox]")]);
  const isChosen = boxes.some(({ checked }) => checked);
  boxes[0]?.setCustomValidity(isChosen ? "" : "Choose at least one chain.");
}

/** Fills the form from the URL of the page. */
function fillForm() {
  const query = new URLSearchParams(location.search);
  const address = query.get("address");
  if (address !== null) /** @type {HTMLInputElement} */ (findById("address")).value = address;
  // The service accepts short names too, such as eth: prefixes of the full ones.
  const chains = query.getAll("chains").join(",").toLowerCase().split(",").filter(Boolean);
  for (const box of form.querySelectorAll("input[type=checkbox]")) {
    const input = /** @type {HTMLInputElement} */ (box);
    if (chains.length > 0) input.checked = chains.some((name) => input.value.startsWith(name.trim()));
  }
  validateChains();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!isRunning) void run();
});
form.addEventListener("input", () => {
  validateChains();
  labelButton(readFormUrl());
});

// Paper cannot be unfolded; spam stays folded there as well.
window.addEventListener("beforeprint", () => {
  for (const folded of result.querySelectorAll("details.more:not(.spam)")) folded.setAttribute("open", "");
});

fillForm();
labelButton(readFormUrl());
const stored = readStoredResult(readFormUrl());
if (isPaymentPending(readFormUrl())) void run();
else if (stored) {
  showPaid(readFormUrl(), stored);
  showDone("Bought earlier in this tab. Paying again takes a new snapshot.");
}
