// The page at work: the form becomes a request, the wallet pays for it, the answer becomes a view.
import { buy, isPending, lastBought } from "./paid-request.js";
import { snapshotView } from "./snapshot-view.js";
import { connect, findWallet, sign, useChain } from "./wallet.js";

/**
 * @typedef {{path: string, priceUsd: string, terms: import("./payment.js").Terms}} Sold
 * @type {Sold & import("./snapshot-view.js").Known}
 */
const offer = JSON.parse(byId("offer").textContent ?? "");
const form = /** @type {HTMLFormElement} */ (byId("question"));
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
function tell(text, look) {
  status.textContent = text;
  status.className = look;
}

/** The address of what is asked for: the same question has the same one, so that its payment is found again. */
function urlOfForm() {
  const given = new FormData(form);
  const query = new URLSearchParams({ address: String(given.get("address")).trim().toLowerCase() });
  const chains = given.getAll("chains").join(",");
  return `${offer.path}?${query}${chains === "" ? "" : `&chains=${chains}`}`;
}

/** @returns {import("./paid-request.js").Payer} */
function payerOf() {
  /** @type {import("./wallet.js").Wallet | null} */
  let wallet = null;
  return {
    async account(terms) {
      wallet = await findWallet();
      if (!wallet)
        throw new Error("There is no wallet in this browser. Install one, or pay with a program: see below.");
      const account = await connect(wallet);
      await useChain(wallet, terms.network, offer.paidOn.name);
      return account;
    },
    sign(account, data) {
      if (!wallet) throw new Error("There is no wallet to sign with.");
      return sign(wallet, account, data);
    },
  };
}

async function run() {
  const url = urlOfForm();
  history.replaceState(null, "", url);
  button.disabled = true;
  result.replaceChildren();
  try {
    show(await buy(url, offer.terms, payerOf(), (text) => tell(text, "busy")));
    tell("Here it is.", "");
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error), "bad");
  } finally {
    button.disabled = false;
    name(url);
  }
}

/** @param {import("./paid-request.js").Bought} bought */
function show(bought) {
  result.replaceChildren(...snapshotView(bought, offer));
}

/** What the button does depends on whether it has been paid for already. @param {string} url */
function name(url) {
  const label = isPending(url) ? "Try again, already paid" : `Pay $${offer.priceUsd} and look`;
  button.textContent = label;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void run();
});
form.addEventListener("input", () => name(urlOfForm()));

/** What the address asks for goes into the form. */
function fillForm() {
  const query = new URLSearchParams(location.search);
  const address = query.get("address");
  if (address !== null) /** @type {HTMLInputElement} */ (byId("address")).value = address;
  // The service takes short names too, such as eth; each is how the full one begins.
  const chains = query.get("chains")?.toLowerCase().split(",").filter(Boolean);
  for (const box of form.querySelectorAll("input[type=checkbox]")) {
    const input = /** @type {HTMLInputElement} */ (box);
    if (chains) input.checked = chains.some((name) => input.value.startsWith(name.trim()));
  }
}

fillForm();
name(urlOfForm());
const before = lastBought(urlOfForm());
if (isPending(urlOfForm())) void run();
else if (before) {
  show(before);
  tell("Bought earlier in this tab. Paying again takes a new snapshot.", "");
}
