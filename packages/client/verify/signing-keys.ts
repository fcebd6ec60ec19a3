// The public keys that the reader trusts, from a key directory, a DID document or a bare key.
import { ed25519 } from "@noble/curves/ed25519";
import { sha256 } from "viem/utils";
import { decodeBase64Url, encodeBase64Url } from "./base64.ts";
import { Rejection } from "./rejection.ts";
import { type JsonObject, memberOf, requireList, requireObject } from "./strict-json.ts";

export type SigningKey = {
  /** The thumbprint of the key (RFC 7638). */
  readonly id: string;
  readonly publicKey: Uint8Array;
  /** The only host that it may sign for; null for a key that the reader knows by itself. */
  readonly host: string | null;
  /** Seconds since 1970; null if the source states no limit. */
  readonly notBefore: number | null;
  readonly expires: number | null;
};

const KEYS_MAX = 100;

/**
 * Reads a public key (43 characters of base64url), a JWK, a key directory or a DID document. A key that has another id
 * than its thumbprint is rejected.
 */
export function readSigningKeys(source: unknown, host: string | null = null): readonly SigningKey[] {
  return readKeys(source).map((key) => ({ ...key, host: host?.toLowerCase() ?? null }));
}

type UnboundKey = Omit<SigningKey, "host">;

function readKeys(source: unknown): readonly UnboundKey[] {
  if (typeof source === "string") return [readKey({ kty: "OKP", crv: "Ed25519", x: source })];
  const document = requireObject(source, "The source of keys");
  const methods = memberOf(document, "verificationMethod");
  if (methods !== undefined) {
    return requireList(methods, "verificationMethod", KEYS_MAX).map((method) =>
      readKey(requireObject(memberOf(requireObject(method, "A key"), "publicKeyJwk"), "A key")),
    );
  }
  const keys = memberOf(document, "keys");
  if (keys === undefined) return [readKey(document)];
  return requireList(keys, "keys", KEYS_MAX).map((key) => readKey(requireObject(key, "A key")));
}

function readKey(key: JsonObject): UnboundKey {
  const x = memberOf(key, "x");
  if (memberOf(key, "kty") !== "OKP" || memberOf(key, "crv") !== "Ed25519" || typeof x !== "string") {
    throw new Rejection("A key is not an Ed25519 key.");
  }
  const publicKey = decodeBase64Url(x, "A key");
  if (publicKey.length !== 32) throw new Rejection("A key does not have 32 bytes.");
  const id = thumbprintOf(publicKey);
  const stated = memberOf(key, "kid");
  if (stated !== undefined && stated !== id) throw new Rejection("A key has another id than its thumbprint.");
  return { id, publicKey, notBefore: readSeconds(key, "nbf"), expires: readSeconds(key, "exp") };
}

function readSeconds(key: JsonObject, name: string): number | null {
  const value = memberOf(key, name);
  if (value === undefined) return null;
  if (!Number.isSafeInteger(value)) throw new Rejection(`The ${name} of a key is not a time.`);
  return value as number;
}

function thumbprintOf(publicKey: Uint8Array): string {
  const text = `{"crv":"Ed25519","kty":"OKP","x":"${encodeBase64Url(publicKey)}"}`;
  return encodeBase64Url(sha256(new TextEncoder().encode(text), "bytes"));
}

/** A clock that is behind by less than this takes no signature for one of the future. */
const SKEW_SECONDS = 60;

type SignedText = {
  readonly keyId: string;
  /** The host that it is signed for. */
  readonly host: string;
  readonly text: string;
  readonly signature: Uint8Array;
  /** Seconds since 1970. */
  readonly signedAt: number;
  readonly nowMs: number;
};

/** Passes only for a signature by one of the keys, made while that key counted. */
export function checkSignedText(keys: readonly SigningKey[], signed: SignedText): void {
  const { keyId, host, text, signature, signedAt, nowMs } = signed;
  const named = keys.filter(({ id }) => id === keyId);
  if (named.length === 0) throw new Rejection("It is signed with a key that is not among yours.");
  const key = named.find((each) => each.host === null || each.host === host.toLowerCase());
  if (key === undefined) throw new Rejection("It is signed with a key of another host.");
  if (signedAt > nowMs / 1000 + SKEW_SECONDS) throw new Rejection("It is signed in the future.");
  const { notBefore, expires, publicKey } = key;
  if ((notBefore !== null && signedAt < notBefore) || (expires !== null && signedAt >= expires)) {
    throw new Rejection("It is signed outside of the period of its key.");
  }
  if (signature.length !== 64) throw new Rejection("The signature does not have 64 bytes.");
  const bytes = new TextEncoder().encode(text);
  if (!isValid(signature, bytes, publicKey)) throw new Rejection("The signature does not fit.");
}

function isValid(signature: Uint8Array, bytes: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, bytes, publicKey, { zip215: false });
  } catch {
    // The bytes are not a point of the curve.
    return false;
  }
}
