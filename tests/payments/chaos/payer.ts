// A payer who buys one snapshot with the x402 client library, and retries with the same signature.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import type { PrivateKeyAccount } from "viem";
import { decodePayload, encodePayload, PAYMENT_FORGERIES, validBeforeOfHeader } from "./forgeries.ts";

export type PayerBehaviour =
  /** Retries until there is a response. */
  | "patient"
  /** Sends the same to both services at once, three times. */
  | "hasty"
  /** Goes away in the middle and does not come back. */
  | "leaving"
  /** Sends forgeries of his own payment before, during and after it. */
  | "forging"
  /** Tries to get another snapshot for the payment that he has used. */
  | "greedy";

export type PayerResponse = {
  readonly status: number;
  /** Equal for equal bytes. */
  readonly body: string;
  readonly transaction: string | null;
  readonly error: string | null;
  /** How long the signature was still good when the response came. */
  readonly leftSeconds: number;
};

export type PurchaseRecord = {
  readonly payer: string;
  readonly path: string;
  readonly behaviour: PayerBehaviour;
  /** Null if not even the terms arrived. */
  header: string | null;
  readonly responses: PayerResponse[];
  /** To what was forged, or sent for something else. */
  readonly forgedResponses: PayerResponse[];
};

type PayerOptions = {
  readonly account: PrivateKeyAccount;
  readonly asset: string;
  readonly network: `eip155:${number}`;
  readonly path: string;
  readonly otherPath: string;
  readonly behaviour: PayerBehaviour;
  readonly random: () => number;
  /** Services that can be reached at the moment. */
  readonly serviceUrls: () => readonly string[];
};

// The service promises a response within 30 seconds.
const REQUEST_MS = 40_000;
// An expired signature is rejected at the latest when its block is final.
const PATIENCE_SECONDS = 25;
const FINAL: ReadonlySet<number> = new Set([200, 400, 402, 404, 409]);

class Gone extends Error {}

export async function buyOnce(options: PayerOptions): Promise<PurchaseRecord> {
  const { account, asset, network, path, behaviour: manner, random } = options;
  const bought: PurchaseRecord = {
    payer: account.address.toLowerCase(),
    path,
    behaviour: manner,
    header: null,
    responses: [],
    forgedResponses: [],
  };
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: "10000" }] },
  });

  async function deliver(request: Request): Promise<Response> {
    const header = request.headers.get("payment-signature");
    if (header === null) return askTerms(options);
    bought.header = header;
    const persist = () => sendUntilFinal(options, header, bought.responses);
    if (manner === "leaving") {
      await send(options, path, header, bought.responses, 50 + random() * 1_500).catch(() => null);
      throw new Gone();
    }
    if (manner === "hasty") {
      const all = await Promise.all([persist(), persist(), persist()]);
      return all[0];
    }
    if (manner === "forging") {
      const forge = () => sendForgery(options, header, bought.forgedResponses);
      await forge();
      const [, response] = await Promise.all([forge(), persist(), forge()]);
      await forge();
      return response;
    }
    const response = await persist();
    if (manner === "greedy" && response.status === 200) {
      await send(options, options.otherPath, header, bought.forgedResponses, REQUEST_MS).catch(() => null);
    }
    return response;
  }

  await wrapFetchWithPayment(
    deliver as typeof fetch,
    client,
  )(`http://service.invalid${path}`).catch((error) => {
    if (!(error instanceof Gone)) throw error;
  });
  return bought;
}

async function askTerms(options: PayerOptions): Promise<Response> {
  for (;;) {
    const serviceUrl = await choose(options);
    const response = await fetch(serviceUrl + options.path, {
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch(() => null);
    if (response?.status === 402) return response;
    await sleep(100 + options.random() * 400);
  }
}

async function sendUntilFinal(
  options: PayerOptions,
  header: string,
  responses: PayerResponse[],
): Promise<Response> {
  const until = (validBeforeOfHeader(header) + PATIENCE_SECONDS) * 1_000;
  for (;;) {
    const response = await send(options, options.path, header, responses, REQUEST_MS).catch(() => null);
    if (response !== null && (FINAL.has(response.status) || Date.now() > until)) return response;
    if (Date.now() > until) throw new Gone();
    await sleep(200 + options.random() * 800);
  }
}

async function sendForgery(options: PayerOptions, header: string, responses: PayerResponse[]): Promise<void> {
  const forge = PAYMENT_FORGERIES[Math.floor(options.random() * PAYMENT_FORGERIES.length)];
  if (!forge) throw new Error("there are no forgeries");
  const forged = encodePayload(forge(decodePayload(header)));
  // One that is lost on the way proves nothing and costs nothing.
  await send(options, options.path, forged, responses, REQUEST_MS).catch(() => null);
}

async function send(
  options: PayerOptions,
  path: string,
  header: string,
  responses: PayerResponse[],
  ms: number,
): Promise<Response> {
  const serviceUrl = await choose(options);
  return sendPayment(serviceUrl + path, header, responses, ms);
}

/** Throws unless the response is complete. */
export async function sendPayment(
  url: string,
  header: string,
  responses: PayerResponse[],
  ms = REQUEST_MS,
): Promise<Response> {
  const response = await fetch(url, {
    headers: { "payment-signature": header },
    signal: AbortSignal.timeout(Math.ceil(ms)),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const receipt = response.headers.get("payment-response");
  const settlement =
    receipt === null
      ? null
      : (JSON.parse(Buffer.from(receipt, "base64").toString()) as { transaction: string });
  responses.push({
    status: response.status,
    body: createHash("sha256").update(bytes).digest("hex"),
    transaction: settlement?.transaction ?? null,
    error: response.status === 200 ? null : bytes.toString("utf8", 0, 300),
    leftSeconds: validBeforeOfHeader(header) - Date.now() / 1_000,
  });
  return response;
}

async function choose({ serviceUrls, random }: PayerOptions): Promise<string> {
  for (;;) {
    const up = serviceUrls();
    const serviceUrl = up[Math.floor(random() * up.length)];
    if (serviceUrl !== undefined) return serviceUrl;
    await sleep(100);
  }
}
