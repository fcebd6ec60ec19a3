// Signs payments without a channel: an EIP-3009 transfer, as x402 version 2 sends it.
import type { Hex } from "viem";
import { SextantError } from "../errors.ts";
import { type Fields, fieldsOf, PAYMENT_IDENTIFIER, type PaymentTerms } from "./terms.ts";
import { type SignedToken, transferTypedData } from "./token-typed-data.ts";
import { encodeHeader } from "./x402-header.ts";

/** Signs by EIP-712: a transfer, or for a channel a deposit and vouchers. */
export type PaymentTypedData = {
  readonly domain: SignedDomain;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
};

type SignedDomain = {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Hex;
};

/** Any account of viem: of a key, of a wallet, or a smart account, which cannot pay by channel. */
export interface Payer {
  readonly address: Hex;
  signTypedData(data: PaymentTypedData): Promise<Hex>;
  /** Signs a text (EIP-191). Only `again` needs it. */
  signMessage?(text: { readonly message: string }): Promise<Hex>;
}

export type SignedTransfer = {
  /** PAYMENT-SIGNATURE. */
  readonly header: string;
  readonly nonce: Hex;
  /** Unix seconds. */
  readonly validBefore: number;
};

/** The account is asked once; the terms must have passed the guard. */
export async function signTransfer(
  payer: Payer,
  terms: PaymentTerms,
  nowMs: number,
): Promise<SignedTransfer> {
  const validBefore = Math.floor(nowMs / 1_000) + terms.maxTimeoutSeconds;
  const authorization = {
    from: payer.address,
    to: terms.payTo,
    value: terms.amount,
    // Valid from the beginning of time: clocks differ, and the newest block of a quiet chain is old.
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: randomHex(32),
  };
  const signature = await payer
    .signTypedData(transferTypedData(tokenOf(terms), authorization))
    .catch((cause) => {
      throw new SextantError("SIGNING_FAILED", "The account did not sign the payment.", { cause });
    });
  const header = encodeHeader({
    x402Version: 2,
    accepted: terms.accepted,
    payload: {
      authorization: {
        ...authorization,
        value: authorization.value.toString(),
        validAfter: authorization.validAfter.toString(),
        validBefore: authorization.validBefore.toString(),
      },
      signature,
    },
    ...(terms.identifier === null ? {} : { extensions: nameExtension(terms.identifier, newName()) }),
  });
  return { header, nonce: authorization.nonce, validBefore };
}

export function tokenOf({ tokenName, tokenVersion, network, asset }: PaymentTerms): SignedToken<Hex> {
  const chainId = Number(network.slice("eip155:".length));
  return { name: tokenName, version: tokenVersion, chainId, address: asset };
}

/**
 * A name that is not part of the public signature on the chain: the service then gives what was bought only together
 * with it.
 */
export function nameExtension(declared: Fields, id: string): Fields {
  return { [PAYMENT_IDENTIFIER]: { ...declared, info: { ...fieldsOf(declared.info), id } } };
}

export function newName(): string {
  return `pay_${randomHex(16).slice(2)}`;
}

export function randomHex(length: number): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
