// A headless browser, and a wallet inside it whose key stays in the test.

import { namedAccounts } from "@sextant/local-chain/accounts";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { TypedDataDefinition } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { findChromium } from "../support/find-chromium.ts";

export const PAYER = privateKeyToAccount(namedAccounts().payer.privateKey);

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium(process.env.PATH ?? "");
  if (executablePath === null) throw new Error("There is no Chromium on the path.");
  return chromium.launch({
    executablePath,
    // The browser must not use the network by itself, and containers offer no sandbox.
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

type WalletCall = { readonly method: string; readonly params?: readonly unknown[] };

type SentTransaction = {
  readonly chainId: string;
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly value: string;
};

type TestWallet = {
  readonly calls: readonly string[];
  /** The signed typed data, in order. */
  readonly signed: readonly TypedDataDefinition[];
  /** The transactions it was asked to send, in order, with the chain it was on. */
  readonly sent: readonly SentTransaction[];
  /** The chains it was asked to add (EIP-3085). */
  readonly added: readonly { readonly chainId: string }[];
};

export type WalletOptions = {
  /** The account it shares; it signs as the payer all the same. */
  readonly account?: string;
  readonly chainId?: string;
  /** Announces itself by EIP-6963 instead of setting window.ethereum. */
  readonly announced?: true;
  /**
   * Does not know the payment chain until it is added, and rejects as MetaMask does: with 4902 and a switch as part of
   * adding, or on phones with the code inside an internal error and no switch.
   */
  readonly unknownChain?: "desktop" | "phone";
  /** Sends a transaction to a chain; without it, its hash is made up. */
  readonly send?: (transaction: SentTransaction) => Promise<string>;
  /** Throws what the wallet would; the message of an error must be `<code> <text>`. */
  readonly onCall?: (call: WalletCall) => void;
};

/** Adds a wallet to every page of this tab. */
export async function addWallet(page: Page, options: WalletOptions = {}): Promise<TestWallet> {
  const calls: string[] = [];
  const signed: TypedDataDefinition[] = [];
  const sent: SentTransaction[] = [];
  const added: { chainId: string }[] = [];
  let chainId = options.chainId ?? "0x1";
  const knows = (id: string) =>
    options.unknownChain === undefined || added.some((chain) => chain.chainId === id);
  const handlers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_requestAccounts: () => [options.account ?? PAYER.address],
    eth_chainId: () => chainId,
    wallet_switchEthereumChain: ([requested]) => {
      const { chainId: id } = requested as { chainId: string };
      if (!knows(id)) throw unrecognizedChain(options.unknownChain === "phone");
      chainId = id;
      return null;
    },
    wallet_addEthereumChain: ([chain]) => {
      added.push(chain as { chainId: string });
      if (options.unknownChain === "desktop") chainId = (chain as { chainId: string }).chainId;
      return null;
    },
    eth_signTypedData_v4: ([account, text]) => {
      if (account !== (options.account ?? PAYER.address))
        throw new Error("4100 Another account was requested.");
      const data = JSON.parse(String(text)) as TypedDataDefinition;
      signed.push(data);
      return PAYER.signTypedData(data);
    },
    eth_sendTransaction: ([transaction]) => {
      const full = { ...(transaction as Omit<SentTransaction, "chainId">), chainId };
      sent.push(full);
      return options.send?.(full) ?? `0x${"ab".repeat(32)}`;
    },
  };
  await page.exposeFunction("callWallet", async (call: WalletCall) => {
    calls.push(call.method);
    try {
      options.onCall?.(call);
      const handler = handlers[call.method];
      if (!handler) throw new Error(`4200 There is no ${call.method}.`);
      return { result: await handler(call.params ?? []) };
    } catch (error) {
      const [code = "", ...words] = String((error as Error).message).split(" ");
      return { code: Number(code), message: words.join(" "), data: (error as { data?: unknown }).data };
    }
  });
  // As text: it runs in the page, which has no access to this file.
  await page.addInitScript(`{
    const provider = { async request(call) {
      const { result, code, message, data } = await window.callWallet(call);
      if (code !== undefined) throw Object.assign(new Error(message), { code, data });
      return result;
    } };
    const announce = () =>
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { provider } }));
    if (${options.announced === true}) window.addEventListener("eip6963:requestProvider", announce);
    else window.ethereum = provider;
  }`);
  return { calls, signed, sent, added };
}

function unrecognizedChain(isPhone: boolean): Error {
  const text = "Unrecognized chain ID. Try adding the chain using wallet_addEthereumChain first.";
  if (!isPhone) return new Error(`4902 ${text}`);
  return Object.assign(new Error(`-32603 ${text}`), { data: { originalError: { code: 4902 } } });
}

/** A new tab, with the errors that its pages report. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  // The browser reports these statuses, but they are expected: the page itself has status 402.
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (402|503|409)/.test(message.text()))
      errors.push(message.text());
  });
  return { page, errors };
}
