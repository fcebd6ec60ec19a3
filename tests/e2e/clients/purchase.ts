// One purchase of a snapshot: signed once by the client everybody uses, and asked for until it is decided.

import type { LocalAccount } from "@sextant/local-chain/accounts";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { x402Client } from "@x402/fetch";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Slot } from "../services/managed-process.ts";
import type { River } from "../system.ts";
import { openConnection, type Reply } from "./connection.ts";

export type Purchase = {
  readonly payer: Hex;
  readonly nonce: Hex;
  readonly wallet: Hex;
  readonly path: string;
  readonly header: string;
  readonly signedMs: number;
  /** How many reorgs there had been by then. */
  readonly reorgsBefore: number;
  /** The last answer that decided something, which a paid one does for good; null while nothing is decided. */
  decided: Reply | null;
};

const PRICE_MAX = "1000000";

/** Asks for the terms and signs them; null when the service does not answer. */
export async function signPurchase(
  { protocol, branches }: River,
  slot: Slot,
  account: LocalAccount,
  wallet: Hex,
): Promise<Purchase | null> {
  const path = `/portfolio?address=${wallet}&chains=base`;
  const reply = await askOnce(slot, path);
  if (reply === null || reply.status !== 402) return null;
  const required = JSON.parse(
    Buffer.from(reply.headers["payment-required"] ?? "", "base64").toString("utf8"),
  ) as PaymentRequired;
  const network = `eip155:${protocol.chain.chainId}` as const;
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(account.privateKey)) }],
    spendControls: {
      allowedAssets: [{ network, asset: protocol.asset, maxAmountPerPayment: PRICE_MAX }],
    },
  });
  const payload = await client.createPaymentPayload(required);
  const { nonce } = (payload.payload as { authorization: { nonce: Hex } }).authorization;
  const payer = account.address.toLowerCase() as Hex;
  const header = encodePaymentSignatureHeader(payload);
  const signed = { signedMs: Date.now(), reorgsBefore: branches.reorgs };
  return { payer, nonce, wallet, path, header, ...signed, decided: null };
}

/** Null when the connection failed. */
export async function askOnce(
  slot: Slot,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply | null> {
  if (!slot.running) return null;
  const connection = openConnection(slot.url);
  try {
    return await connection.ask(path, { headers });
  } catch {
    return null;
  } finally {
    connection.close();
  }
}

/** Sends the signature; remembers an answer that decides. */
export async function present(slot: Slot, purchase: Purchase): Promise<Reply | null> {
  const reply = await askOnce(slot, purchase.path, { "payment-signature": purchase.header });
  if (reply !== null && !isPassing(reply) && purchase.decided?.status !== 200) purchase.decided = reply;
  return reply;
}

/** Nothing was charged, and the same signature may do better: also where the chain to be read was in trouble. */
export function isPassing({ status, headers }: Reply): boolean {
  return (
    status === 503 || status === 429 || (status === 500 && headers["x-error-code"] === "PROVIDER_FAILED")
  );
}
