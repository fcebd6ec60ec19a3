// A payer by the Machine Payments Protocol for tests, by hand: tests/portfolio/clients.integration.test.ts has the stock client.
import { authorizationTypes } from "@x402/evm";
import { type Hex, keccak256, type PrivateKeyAccount, toBytes } from "viem";
import { Secret } from "../../../src/lib/secret.ts";
import type { MppChallenge } from "../../../src/payments/mpp/challenges.ts";
import { encodePayload } from "../../payments/chaos/forgeries.ts";
import { TEST_NETWORK } from "./paid-client.ts";

export const TEST_MPP_KEY: Hex = `0x${keccak256(toBytes("challenges of tests")).slice(2)}`;
export const testMppKey = new Secret(TEST_MPP_KEY);

type Request = {
  readonly amount: string;
  readonly currency: Hex;
  readonly recipient: Hex;
  readonly methodDetails: { readonly chainId: number };
};

export function parseChallenge(header: string): MppChallenge {
  const parameters = header.matchAll(/(\w+)="([^"\\]*)"/g);
  return Object.fromEntries([...parameters].map(([, name, value]) => [name, value])) as MppChallenge;
}

export async function readChallenge(url: string): Promise<MppChallenge> {
  return parseChallenge((await fetch(url)).headers.get("www-authenticate") ?? "");
}

/** The same challenge with other terms, as a dishonest payer would write it. */
export function changeRequest(challenge: MppChallenge, changed: Partial<Request>): MppChallenge {
  const request = JSON.stringify({ ...decode<Request>(challenge.request), ...changed });
  return { ...challenge, request: Buffer.from(request).toString("base64url") };
}

/** The credential of the protocol's draft: the nonce of the transfer is the hash of the challenge's id and realm. */
export async function signChallenge(challenge: MppChallenge, account: PrivateKeyAccount): Promise<string> {
  const { amount, currency, recipient, methodDetails } = decode<Request>(challenge.request);
  const { chainId } = methodDetails;
  const signed = {
    from: account.address,
    to: recipient,
    value: amount,
    validAfter: "0",
    validBefore: String(Math.floor(Date.parse(challenge.expires) / 1_000)),
    nonce: keccak256(toBytes(challenge.id + challenge.realm)),
  };
  const signature = await account.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId, verifyingContract: currency },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: signed as never,
  });
  const source = `did:pkh:eip155:${chainId}:${account.address}`;
  return encodeCredential({ challenge, payload: { type: "authorization", ...signed, signature }, source });
}

export type WireCredential = {
  readonly challenge: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly source?: string;
};

export function encodeCredential(credential: unknown): string {
  return `Payment ${Buffer.from(JSON.stringify(credential)).toString("base64url")}`;
}

export function decodeCredential(credential: string): WireCredential {
  return decode(credential.replace("Payment ", ""));
}

export function readReceipt(response: Response): {
  readonly reference: string;
  readonly challengeId: string;
} {
  return decode(response.headers.get("payment-receipt") ?? "");
}

function decode<T>(text: string): T {
  return JSON.parse(Buffer.from(text, "base64url").toString()) as T;
}

/** The same signed transfer, as x402 sends it. */
export function toX402Header(credential: string, asset: Hex): string {
  const { type, signature, ...authorization } = decodeCredential(credential).payload;
  return encodePayload({
    x402Version: 2,
    accepted: { scheme: "exact", network: TEST_NETWORK, asset },
    payload: { authorization, signature },
  });
}

export function fetchWithCredential(url: string, credential: string, init: RequestInit = {}) {
  return fetch(url, { ...init, headers: { authorization: credential, ...init.headers } });
}
