// Buys a snapshot and prints what the wallet is worth. PAYER_PRIVATE_KEY is the key of the account that pays.
import { env } from "node:process";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import type { PortfolioSnapshot } from "../packages/client/sextant.ts";

const url = `${env.SEXTANT_PORTFOLIO_URL ?? "http://127.0.0.1:3002"}/portfolio?address=0x14dC79964da2C08b23698B3D3cc7Ca32193d9955&chains=base`;
const network = "eip155:31337";
const asset = "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6";
const key = env.PAYER_PRIVATE_KEY;
if (!key) throw new Error("Set PAYER_PRIVATE_KEY to the key of the account that pays.");
const account = privateKeyToAccount(key as `0x${string}`);

const client = x402Client.fromConfig({
  schemes: [{ network, client: new ExactEvmScheme(account) }],
  // The most that is signed for, in the smallest unit of this token; no other token is.
  spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: "10000" }] },
});

// Sends the same signature until there is a response: a second signature would be a second payment.
const fetchWithRetry: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  if (!request.headers.has("payment-signature")) return fetch(request);
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    const response = await fetch(request.clone()).catch(() => null);
    if (response && ![429, 502, 503, 504].includes(response.status)) return response;
    // A proxy in between may send a date instead of seconds.
    const seconds = Number(response?.headers.get("retry-after") ?? Number.NaN);
    await new Promise((resolve) => setTimeout(resolve, 1000 * (seconds >= 0 ? seconds : 2)));
  }
  throw new Error("There is no response yet; send the same signature again later.");
};

const response = await wrapFetchWithPayment(fetchWithRetry, client)(url);
if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);

const { summary } = (await response.json()) as PortfolioSnapshot;
const { transaction } = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
const worth = summary.totalValueUsd?.replace(/\B(?=(\d{3})+\.)/g, ",");
console.log(`worth $${worth ?? "?"}, paid in ${transaction}`);
console.log(`next: open ${new URL("docs", url)} for the other calls`);
