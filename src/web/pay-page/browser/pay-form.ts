// Runs a pay page: the form becomes a request, the wallet pays for it, and the page's view renders the result.
import { findChecksumProblem } from "../checksum.ts";
import { createElement, type ViewElement } from "../elements.ts";
import { buildFormQuery, findChainNames, findWhenProblem, WHEN_FIELDS } from "../form-query.ts";
import type { Receipt, Terms } from "../payment.ts";
import type { PaidBody } from "../result-view.ts";
import {
  createViewContext,
  type KnownChain,
  renderReceipt,
  renderTitle,
  type ViewContext,
} from "../result-view.ts";
import { buildNode, findById } from "./dom.ts";
import {
  findLedRequest,
  isPaymentPending,
  type PaidResult,
  type Payer,
  readStoredResult,
  requestPaidResult,
} from "./paid-request.ts";
import { renderPlaceholder, showDone, showProblem, showProgress } from "./progress.ts";
import {
  findWallet,
  requestAccount,
  signTypedData,
  switchChain,
  type Wallet,
  type WalletChain,
} from "./wallet.ts";

/** Shows the response of a page. */
type ResultView<Body extends PaidBody> = {
  /** Shown next to the address. */
  describeWallet(body: Body, context: ViewContext): (ViewElement | string)[];
  render(body: Body, context: ViewContext): ViewElement[];
  /** Makes the rendered elements react. */
  connect?(result: HTMLElement, body: Body, chains: KnownChain[]): void;
};

type Price = { priceUsd: string; amount: string };
type Offer = {
  path: string;
  noun: string;
  /** The price of one chain, of two, and so on. */
  prices: Price[];
  terms: Terms;
  options: string[];
  chains: KnownChain[];
  paymentChain: KnownChain & WalletChain;
  others: { path: string; heading: string }[];
};

const offer: Offer = JSON.parse(findById("offer").textContent ?? "");
const form = findById("pay-form") as HTMLFormElement;
const button = findById("pay") as HTMLButtonElement;
const result = findById("result");
/** The request whose result is shown. */
let shownUrl: string | null = null;
let isRunning = false;

/** The query of the form: the same input gives the same text, so that its stored payment is found again. */
function readFormQuery() {
  const given = new FormData(form);
  const chains = given.getAll("chains").map(String);
  given.delete("chains");
  return buildFormQuery(
    [...given].map(([name, value]) => [name, String(value)] as const),
    chains,
  );
}

function readFormUrl() {
  return `${offer.path}?${readFormQuery()}`;
}

function createPayer(): Payer {
  let wallet: Wallet | null = null;
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

async function run<Body extends PaidBody>(view: ResultView<Body>) {
  setRunning(true);
  const url = await findUrl();
  if (url === null) return setRunning(false);
  history.replaceState(null, "", url);
  // An earlier result of the same request stays until the new one is there.
  if (shownUrl !== url) result.replaceChildren(buildNode(renderPlaceholder()));
  try {
    const terms = { ...offer.terms, amounts: listPrices(url).map(({ amount }) => amount) };
    showPaid(view, url, await requestPaidResult<Body>(url, terms, createPayer(), showProgress));
    showDone(`${offer.noun} received.`);
    findById("result-title").focus();
  } catch (error) {
    if (shownUrl !== url) clearResult();
    showProblem(error, isPaymentPending(url));
  } finally {
    setRunning(false);
    labelButton(url);
  }
}

/**
 * The request by address and blocks: the form shows what a name or a time leads to before the wallet is asked, so that
 * another attempt finds the stored payment. Null if it leads nowhere.
 */
async function findUrl() {
  try {
    const { searchParams } = await findLedRequest(readFormUrl());
    for (const input of form.querySelectorAll<HTMLInputElement>("input[type=text]")) {
      const led = searchParams.get(input.name === "at" ? "block" : input.name);
      if (led === null || led === input.value.trim().toLowerCase()) continue;
      const hint = document.getElementById(`${input.name}-hint`);
      if (hint) hint.textContent = `${input.value.trim()} leads to these blocks.`;
      input.value = led;
    }
    return readFormUrl();
  } catch (error) {
    clearResult();
    showProblem(error, false);
    return null;
  }
}

function setRunning(running: boolean) {
  isRunning = running;
  // A disabled button would lose the keyboard's focus.
  button.setAttribute("aria-disabled", String(running));
  result.setAttribute("aria-busy", String(running));
}

function clearResult() {
  result.replaceChildren();
  shownUrl = null;
}

function showPaid<Body extends PaidBody>(
  view: ResultView<Body>,
  url: string,
  { body, receipt }: PaidResult<Body>,
) {
  const context = createViewContext(offer.chains);
  const views = [
    renderTitle(offer.noun, body, view.describeWallet(body, context), context),
    receipt === null ? null : renderReceipt(receipt, { ...offer, priceUsd: findPaidPrice(url, receipt) }),
    ...view.render(body, context),
  ];
  result.replaceChildren(...views.filter((part) => part !== null).map((part) => buildNode(part)));
  result.querySelector(".title")?.append(createTools(body));
  view.connect?.(result, body, offer.chains);
  shownUrl = url;
}

/** The prices that a request may have: that of its chains, or any of them if a stored snapshot names its chains. */
function listPrices(url: string): Price[] {
  const chains = findChainNames(new URL(url, location.href).searchParams).length;
  return chains === 0 ? offer.prices : offer.prices.slice(chains - 1, chains);
}

function findPaidPrice(url: string, receipt: Receipt): string {
  const paid = offer.prices.find(({ amount }) => amount === receipt.amount);
  return (paid ?? listPrices(url)[0])?.priceUsd ?? "";
}

/** The actions of a visitor with a result. */
function createTools(body: PaidBody) {
  const look = "button quiet";
  const query = readFormQuery();
  const name = `${offer.path.replace(/\W+/g, "-").slice(1)}-${body.address}.json`;
  const file = new Blob([JSON.stringify(body, null, 2)], { type: "application/json" });
  const save = { download: name, class: look, href: URL.createObjectURL(file) };
  const tools = buildNode(
    createElement(
      "p.tools",
      ...offer.others.map(({ path, heading }) =>
        createElement("a", { class: look, href: `${path}?${query}` }, heading),
      ),
      createElement("a", save, "Save as JSON"),
      createElement("button", { type: "button", class: "quiet" }, "Print"),
    ),
  );
  tools.lastChild?.addEventListener("click", () => window.print());
  return tools;
}

/** The label says whether the request is paid for already, and offers nothing that the form would not send. */
function labelButton(url: string) {
  const isWrong = form.querySelector("[aria-invalid=true]") !== null;
  const prices = [...new Set(listPrices(url).map(({ priceUsd }) => `$${priceUsd}`))];
  const price = prices.length > 1 ? `${prices[0]} to ${prices.at(-1)}` : prices[0];
  const offered = isWrong ? "Correct the form first" : `Pay ${price}`;
  button.textContent = isPaymentPending(url) ? "Retry, already paid" : offered;
}

/**
 * Without a chain the service would choose for the visitor; with a mistyped address it would be paid for nothing.
 * The field that is being written shows no new problem until the visitor leaves it.
 */
function validateForm(written: EventTarget | null = null) {
  const address = findById("address") as HTMLInputElement;
  const isMalformed = address.validity.patternMismatch;
  setProblem(address, isMalformed ? `Write ${address.title}.` : findChecksumProblem(address.value), written);
  const boxes = [...form.querySelectorAll("input[type=checkbox]")] as HTMLInputElement[];
  const isChosen = boxes.some(({ checked }) => checked);
  if (boxes[0]) setProblem(boxes[0], isChosen ? "" : "Choose at least one chain.");
  const chosen = boxes.filter(({ checked }) => checked).length;
  for (const name of WHEN_FIELDS) {
    const input = document.getElementById(name) as HTMLInputElement | null;
    if (input) setProblem(input, findWhenProblem(input.value, chosen), written);
  }
  labelButton(readFormUrl());
}

function setProblem(input: HTMLInputElement, problem: string, written: EventTarget | null = null) {
  const isShown = problem !== "" && (input !== written || input.ariaInvalid === "true");
  input.setCustomValidity(problem);
  input.ariaInvalid = String(isShown);
  findById(`${input.name}-problem`).textContent = isShown ? problem : "";
}

/** For what a link asks for and the form does not show. */
function addHiddenField(name: string) {
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name }));
}

/** Fills the form from the URL of the page: what is paid for is what the link asks for. */
function fillForm() {
  const query = new URLSearchParams(location.search);
  for (const name of offer.options) if (query.has(name)) addHiddenField(name);
  for (const input of form.querySelectorAll("input")) {
    const given = query.get(input.name) ?? (input.name === "at" ? query.get("block") : null);
    if (input.type !== "checkbox" && given !== null) input.value = given;
  }
  // The service accepts short names too, such as eth: prefixes of the full ones.
  const chains = findChainNames(query);
  for (const box of form.querySelectorAll("input[type=checkbox]")) {
    const input = box as HTMLInputElement;
    if (chains.length > 0) input.checked = chains.some((name) => input.value.startsWith(name));
  }
  validateForm();
}

export function startPayPage<Body extends PaidBody>(view: ResultView<Body>) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!isRunning) void run(view);
  });
  form.addEventListener("input", ({ target }) => validateForm(target));
  form.addEventListener("change", () => validateForm());
  // Paper cannot be unfolded; spam stays folded there as well.
  window.addEventListener("beforeprint", () => {
    for (const folded of result.querySelectorAll("details.more:not(.spam)")) folded.setAttribute("open", "");
  });
  fillForm();
  const stored = readStoredResult<Body>(readFormUrl());
  if (isPaymentPending(readFormUrl())) void run(view);
  else if (stored) {
    showPaid(view, readFormUrl(), stored);
    showDone("Bought earlier in this tab. Paying again reads the wallet again.");
  }
}
