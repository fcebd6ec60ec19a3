// What ends a permission: the call to read and copy, and a button that sends it from the visitor's wallet.
import { buildNode } from "./dom.js";
import { createElement, renderFacts } from "./elements.js";
import { parseChainId } from "./payment.js";
import { renderTransaction, shortenHex } from "./texts.js";
import { findWallet, requestAccounts, sendTransaction, switchChain } from "./wallet.js";

/**
 * @typedef {import("./elements.js").ViewElement} ViewElement
 * @typedef {import("./responses.d.ts").Permission} Permission
 * @typedef {import("./responses.d.ts").Revocation} Revocation
 * @typedef {import("./result-view.js").KnownChain} KnownChain
 */

const ADDRESS = /^0x[0-9a-f]{40}$/;
const CALLDATA = /^0x(?:[0-9a-f]{2})*$/;

/** @param {Permission} permission @param {string} of Whose permission over what, for screen readers. @returns {ViewElement} */
export function renderRevocation(permission, of) {
  const { revoke, chain, chainId } = permission;
  if (revoke === null)
    return createElement("p", { class: "revoke soft" }, "No call of the wallet ends this by itself.");
  const command = buildCommand(permission, revoke);
  return createElement(
    "details",
    { class: "revoke" },
    createElement("summary", {}, "Revoke", createElement("span", { class: "unseen" }, ` ${of}`)),
    createElement("p", {}, revoke.description),
    ...renderWhatToSend(revoke),
    createElement(
      "p",
      { class: "tools" },
      ...(revoke.type === "call"
        ? [
            renderButton("Revoke with wallet", "small", {
              ...{ "data-chain": chain, "data-network": chainId },
              ...{ "data-from": revoke.from, "data-to": revoke.to, "data-call": revoke.data },
            }),
            renderButton("Copy calldata", "quiet", { "data-copy": revoke.data }),
          ]
        : []),
      command === null ? null : renderButton("Copy as cast send", "quiet", { "data-copy": command }),
    ),
    createElement("p", { class: "outcome", role: "status" }),
  );
}

/** @param {Revocation} revoke */
function renderWhatToSend(revoke) {
  if (revoke.type === "authorization") {
    const { chainId, address } = revoke.authorization;
    return [
      renderFacts([
        ["Authorize", createElement("code", {}, address)],
        ["Chain id", String(chainId)],
      ]),
    ];
  }
  return [
    renderFacts([["To", createElement("code", {}, revoke.to)]]),
    createElement("pre", { tabindex: "0", "aria-label": "Calldata" }, createElement("code", {}, revoke.data)),
  ];
}

/** @param {string} label @param {string} look @param {Record<string, string>} data What pressing it needs. */
function renderButton(label, look, data) {
  return createElement("button", { type: "button", class: look, ...data }, label);
}

/**
 * The command for a shell; null where no key of the visitor can send it, as for calls of an account to itself.
 * @param {Permission} permission
 * @param {Revocation} revoke
 */
function buildCommand({ chainId, contract }, revoke) {
  const chain = `--chain ${parseChainId(chainId)} --rpc-url "$RPC_URL"`;
  if (revoke.type === "authorization") {
    const { address } = revoke.authorization;
    const isPlain = ADDRESS.test(address) && ADDRESS.test(contract);
    return isPlain ? `cast send ${contract} --auth ${address} ${chain}` : null;
  }
  const { from, to, data } = revoke;
  const isPlain = ADDRESS.test(from) && ADDRESS.test(to) && CALLDATA.test(data);
  return isPlain && to !== from ? `cast send ${to} ${data} --from ${from} ${chain}` : null;
}

/** Makes the buttons work. @param {HTMLElement} result @param {KnownChain[]} chains */
export function connectRevocations(result, chains) {
  for (const button of result.querySelectorAll("button")) {
    if (button.closest(".revoke")) button.addEventListener("click", () => void act(button, chains));
  }
}

/** @param {HTMLButtonElement} button @param {KnownChain[]} chains */
async function act(button, chains) {
  const outcome = button.closest(".revoke")?.querySelector(".outcome");
  const say = (/** @type {string} */ look, /** @type {(string | ViewElement)[]} */ ...parts) => {
    if (!outcome) return;
    outcome.className = `outcome ${look}`;
    outcome.replaceChildren(...parts.map((part) => buildNode(part)));
  };
  try {
    const { copy, chain: slug = "" } = button.dataset;
    if (copy !== undefined) {
      await copyText(copy);
      say("good", "Copied.");
      return;
    }
    say("", "Confirm in your wallet …");
    const chain = chains.find((known) => known.slug === slug);
    const hash = await revokeWithWallet(button.dataset, chain?.name ?? slug);
    const link = renderTransaction(hash, chain?.explorerTxUrl);
    say("good", "Sent: ", link, ". The permission ends when a block has it; pay again to see that.");
  } catch (error) {
    say("bad", error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} text */
async function copyText(text) {
  // Absent on pages without HTTPS.
  if (!navigator.clipboard) throw new Error("This browser lets no page copy here: select the text instead.");
  await navigator.clipboard.writeText(text);
}

/** @param {DOMStringMap} data @param {string} chainName @returns {Promise<string>} The hash of the transaction. */
async function revokeWithWallet({ network = "", from = "", to = "", call = "" }, chainName) {
  const wallet = await findWallet();
  if (!wallet) throw new Error("There is no wallet in this browser: copy the call instead.");
  const accounts = await requestAccounts(wallet);
  if (!accounts.some((account) => account.toLowerCase() === from))
    throw new Error(
      `Only ${shortenHex(from)} can end this permission, and your wallet is connected as ${shortenHex(accounts[0] ?? "none")}. Choose the other account there and try again. Nothing was sent.`,
    );
  await switchChain(wallet, network, { name: chainName, wallet: null });
  return sendTransaction(wallet, { from, to, data: call, value: "0x0" });
}
