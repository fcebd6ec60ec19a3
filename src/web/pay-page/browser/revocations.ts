// Makes the buttons of revocations work: they copy the call, or send it from the visitor's wallet.
import type { ViewElement } from "../elements.ts";
import type { KnownChain } from "../result-view.ts";
import { renderTransaction, shortenHex } from "../texts.ts";
import { buildNode } from "./dom.ts";
import { findWallet, requestAccounts, sendTransaction, switchChain } from "./wallet.ts";

export function connectRevocations(result: HTMLElement, chains: KnownChain[]) {
  for (const button of result.querySelectorAll("button")) {
    if (button.closest(".revoke")) button.addEventListener("click", () => void act(button, chains));
  }
}

async function act(button: HTMLButtonElement, chains: KnownChain[]) {
  const outcome = button.closest(".revoke")?.querySelector(".outcome");
  const say = (look: string, ...parts: (string | ViewElement)[]) => {
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

async function copyText(text: string) {
  // Absent on pages without HTTPS.
  if (!navigator.clipboard) throw new Error("This browser lets no page copy here: select the text instead.");
  await navigator.clipboard.writeText(text);
}

/** Returns the hash of the transaction. */
async function revokeWithWallet(
  { network = "", from = "", to = "", call = "" }: DOMStringMap,
  chainName: string,
): Promise<string> {
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
