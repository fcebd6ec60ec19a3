// Payments of x402 version 2: decodes the terms, builds the typed data to sign, and encodes the payment header.
import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import { chainIdOfNetwork } from "../../lib/caip2.ts";

export type Terms = {
  scheme: string;
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: { name: string; version: string };
};
type Extensions = Record<string, { info?: object }>;
export type Challenge = {
  x402Version: number;
  resource: unknown;
  accepts: Terms[];
  extensions?: Extensions;
  error?: string;
};
type Authorization = {
  from: string;
  to: string;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: string;
};
export type Receipt = { transaction: string; network: string; payer: string; amount?: string };

// Clocks differ: a signature valid only from now on may be too early for the chain.
const EARLY_SECONDS = 600;

export function decodeHeader(text: string): unknown {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

function encodeHeader(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function createAuthorization(terms: Terms, from: string, nowMs: number): Authorization {
  const now = Math.floor(nowMs / 1000);
  return {
    from,
    to: terms.payTo,
    value: terms.amount,
    validAfter: String(now - EARLY_SECONDS),
    validBefore: String(now + terms.maxTimeoutSeconds),
    nonce: `0x${randomHex(32)}`,
  };
}

const DOMAIN_FIELDS = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
] as const;

/** As wallets take it: with the type of the domain. */
export function buildTypedData({ extra, network, asset }: Terms, message: Authorization) {
  const token = { ...extra, chainId: chainIdOfNetwork(network), address: asset };
  const { types, ...data } = transferTypedData(token, message);
  return { ...data, types: { EIP712Domain: DOMAIN_FIELDS, ...types } };
}

export function buildPaymentHeader(
  challenge: Challenge,
  terms: Terms,
  authorization: Authorization,
  signature: string,
): string {
  const { x402Version, resource } = challenge;
  const extensions = addPaymentIdentifier(challenge.extensions ?? {});
  return encodeHeader({
    x402Version,
    payload: { authorization, signature },
    resource,
    accepted: terms,
    extensions,
  });
}

const IDENTIFIER = "payment-identifier";

/**
 * Adds a payment identifier if the service supports them. It never appears on the chain, so that reading the signature
 * there is not enough to fetch what was paid for.
 */
function addPaymentIdentifier(extensions: Extensions): Extensions {
  const known = extensions[IDENTIFIER];
  if (known === undefined) return extensions;
  const id = `pay_${randomHex(16)}`;
  return { ...extensions, [IDENTIFIER]: { ...known, info: { ...known.info, id } } };
}
