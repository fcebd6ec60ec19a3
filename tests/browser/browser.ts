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
    // Nothing of the browser's own may go out, and containers have no sandbox to give.
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

export type WalletCall = { readonly method: string; readonly params?: readonly unknown[] };

export type TestWallet = {
  readonly calls: readonly string[];
  /** What was signed, in order. */
  readonly signed: readonly TypedDataDefinition[];
};

export type WalletOptions = {
  readonly chainId?: string;
  /** Introduces itself as EIP-6963 says, instead of taking window.ethereum. */
  readonly announced?: true;
  /** Throws what the wallet would: an error's message must be `<code> <text>`. */
  readonly onCall?: (call: WalletCall) => void;
};

/** Puts window.ethereum into every page of this tab. */
export async function addWallet(page: Page, options: WalletOptions = {}): Promise<TestWallet> {
  const calls: string[] = [];
  const signed: TypedDataDefinition[] = [];
  let chainId = options.chainId ?? "0x1";
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_requestAccounts: () => [PAYER.address],
    eth_chainId: () => chainId,
    wallet_switchEthereumChain: ([wanted]) => {
      chainId = (wanted as { chainId: string }).chainId;
      return null;
    },
    eth_signTypedData_v4: ([account, text]) => {
      if (account !== PAYER.address) throw new Error("4100 Another account was asked for.");
      const data = JSON.parse(String(text)) as TypedDataDefinition;
      signed.push(data);
      return PAYER.signTypedData(data);
    },
  };
  await page.exposeFunction("askWallet", async (call: WalletCall) => {
    calls.push(call.method);
    try {
      options.onCall?.(call);
      const answer = answers[call.method];
      if (!answer) throw new Error(`4200 There is no ${call.method}.`);
      return { result: await answer(call.params ?? []) };
    } catch (error) {
      const [code = "", ...words] = String((error as Error).message).split(" ");
      return { code: Number(code), message: words.join(" ") };
    }
  });
  // As text: it runs in the page, where nothing of this file exists.
  await page.addInitScript(`{
    const provider = { async request(call) {
      const { result, code, message } = await window.askWallet(call);
      if (code !== undefined) throw Object.assign(new Error(message), { code });
      return result;
    } };
    const announce = () =>
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { provider } }));
    if (${options.announced === true}) window.addEventListener("eip6963:requestProvider", announce);
    else window.ethereum = provider;
  }`);
  return { calls, signed };
}

/** A tab of its own, with what its pages complain about. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  // A page with status 402 is what the page is; the browser reports every such status.
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (402|503|409)/.test(message.text()))
      complaints.push(message.text());
  });
  return { page, complaints };
}
