// A payer for tests: the x402 client that every payer uses, and its payments to be sent by hand.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import type { Hex, PrivateKeyAccount } from "viem";

export const TEST_NETWORK = "eip155:31337";

function createX402Client(account: PrivateKeyAccount, asset: Hex): x402Client {
  return x402Client.fromConfig({
    schemes: [{ network: TEST_NETWORK, client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: [{ network: TEST_NETWORK, asset, maxAmountPerPayment: "1000000" }] },
  });
}

export function createPayingFetch(
  account: PrivateKeyAccount,
  asset: Hex,
  send: typeof fetch = fetch,
): typeof fetch {
  return wrapFetchWithPayment(send, createX402Client(account, asset)) as typeof fetch;
}

export function decodeBase64Header<T>(response: Response, name: string): T {
  const text = response.headers.get(name);
  if (text === null) throw new Error(`there is no header ${name}`);
  return JSON.parse(Buffer.from(text, "base64").toString()) as T;
}

/** The headers that the client would send for a URL, to be sent by hand: twice, late, or elsewhere. */
export async function signPaymentFor(
  url: string,
  account: PrivateKeyAccount,
  asset: Hex,
  change: (required: PaymentRequired) => PaymentRequired = (required) => required,
): Promise<{ header: string; payload: PaymentPayload }> {
  const response = await fetch(url);
  const required = change(decodeBase64Header<PaymentRequired>(response, "payment-required"));
  const payload = await signRequirements(required, account, asset);
  return { header: encodePaymentSignatureHeader(payload), payload };
}

/** The payment for terms that came another way than by a header. */
export function signRequirements(
  required: unknown,
  account: PrivateKeyAccount,
  asset: Hex,
): Promise<PaymentPayload> {
  return createX402Client(account, asset).createPaymentPayload(required as PaymentRequired);
}

export function fetchWithPayment(url: string, header: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...init.headers, "payment-signature": header } });
}

export async function waitFor(isTrue: () => Promise<boolean> | boolean, msMax = 20_000): Promise<void> {
  const end = Date.now() + msMax;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
