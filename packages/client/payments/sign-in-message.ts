// The text that an account signs to prove itself to a service (EIP-4361), as x402's sign-in-with-x builds it.
import type { Hex } from "viem";
import { getAddress } from "viem/utils";

export type SignInMessage = {
  readonly domain: string;
  readonly address: Hex;
  readonly uri: string;
  /** As eip155:8453. */
  readonly chainId: string;
  readonly nonce: string;
  readonly issuedAt: string;
  readonly expirationTime?: string | null;
  readonly notBefore?: string | null;
};

/** The extension of x402, and the header of a request that signs in. */
export const SIGN_IN = "sign-in-with-x";
export const SIGN_IN_VERSION = "1";
/** The only way to sign that is taken: by the key of an account. */
export const SIGN_IN_TYPE = "eip191";

/** Without a statement, and whatever else the standard has room for. */
export function formatSignInMessage(message: SignInMessage): string {
  const { domain, address, uri, chainId, nonce, issuedAt, expirationTime, notBefore } = message;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    "",
    "",
    `URI: ${uri}`,
    `Version: ${SIGN_IN_VERSION}`,
    `Chain ID: ${chainId.slice("eip155:".length)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(expirationTime == null ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore == null ? [] : [`Not Before: ${notBefore}`]),
  ].join("\n");
}
