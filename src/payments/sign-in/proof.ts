// The header SIGN-IN-WITH-X: parsed strictly, and the text of EIP-4361 that its account has signed.
import { formatSignInMessage, SIGN_IN_TYPE, SIGN_IN_VERSION } from "@sextant/client/payments/sign-in-message";
import { hashMessage } from "viem";
import { Fault } from "../../lib/fault.ts";
import { asAddress, type Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../../lib/json.ts";
import { recoverKeyAddress } from "../../lib/recover-address.ts";

export type SignInProof = {
  readonly domain: string;
  /** In lower case. */
  readonly address: Hex;
  readonly uri: string;
  readonly chainId: string;
  /** 16 bytes of lower-case hex. */
  readonly nonce: string;
  readonly issuedAt: string;
  /** Null without one, as the next. */
  readonly expirationTime: string | null;
  readonly notBefore: string | null;
  readonly signature: Hex;
};

// A message of ours with the longest path takes half of it.
const HEADER_LENGTH_MAX = 4_096;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NONCE = /^[0-9a-f]{32}$/;
const CHAIN = /^eip155:[1-9][0-9]{0,15}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const KEY_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
// No line break, which would add a field to the text.
const PLAIN = /^[\x21-\x7e]{1,1024}$/;
/** Fields of EIP-4361 that no challenge of ours has: what they say would be signed and not checked. */
const UNUSED = ["statement", "requestId", "resources"];

/** A sentence about the header if it is not what we can check. */
export function parseSignIn(header: string): SignInProof | string {
  if (header.length > HEADER_LENGTH_MAX) return `The header has more than ${HEADER_LENGTH_MAX} characters.`;
  if (!BASE64.test(header)) return "The header must be base64 of a JSON object.";
  let given: unknown;
  try {
    given = parseStrictJson(Buffer.from(header, "base64"), "The header");
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return isJsonObject(given) ? readProof(given) : "The header must be base64 of a JSON object.";
}

function readProof(given: JsonObject): SignInProof | string {
  const text = (name: string, pattern: RegExp): string | null => {
    const value = given[name];
    return typeof value === "string" && pattern.test(value) ? value : null;
  };
  const unused = UNUSED.find((name) => given[name] !== undefined);
  if (unused !== undefined) return `The message must have no ${unused}: the challenge has none.`;
  if (given.version !== SIGN_IN_VERSION) return `The version must be "${SIGN_IN_VERSION}".`;
  if (given.type !== SIGN_IN_TYPE) return `The type must be "${SIGN_IN_TYPE}".`;
  const address = asAddress(given.address);
  if (address === null) return "The address must be that of an account.";
  const [domain, uri, chainId] = [text("domain", PLAIN), text("uri", PLAIN), text("chainId", CHAIN)];
  if (domain === null || uri === null || chainId === null)
    return "The message must have domain, uri and chainId.";
  const nonce = text("nonce", NONCE);
  if (nonce === null) return "The nonce must be the one of the challenge.";
  const [issuedAt, expirationTime, notBefore] = ["issuedAt", "expirationTime", "notBefore"].map((name) =>
    given[name] === undefined ? null : readTime(text(name, TIME)),
  );
  if (!issuedAt || expirationTime === undefined || notBefore === undefined) {
    return "The message must have issuedAt, and its times must be as in RFC 3339.";
  }
  const signature = text("signature", KEY_SIGNATURE);
  if (signature === null) {
    return "The signature must be of a key, in 65 bytes: accounts with code cannot sign in; send the payment again instead.";
  }
  return {
    ...{ domain, address, uri, chainId, nonce, issuedAt, expirationTime, notBefore },
    signature: signature as Hex,
  };
}

/** Undefined for what is not a time. */
function readTime(text: string | null): string | undefined {
  return text === null || Number.isNaN(Date.parse(text)) ? undefined : text;
}

/** Whether the key of the account has signed exactly this message. */
export async function isSignedByAccount(proof: SignInProof): Promise<boolean> {
  return (
    (await recoverKeyAddress(hashMessage(formatSignInMessage(proof)), proof.signature)) === proof.address
  );
}
