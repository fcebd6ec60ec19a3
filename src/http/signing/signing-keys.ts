// The keys that sign responses and receipts: their periods, which of them signs at a time, and the documents that list them.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";

/** A key with a period, in which `untilSeconds` is the first second after it; null if it has no end. */
type ListedKey = {
  readonly id: string;
  /** The public half, in base64url. */
  readonly x: string;
  readonly fromSeconds: number;
  readonly untilSeconds: number | null;
  /** Null for a key that has retired. */
  readonly privateKey: KeyObject | null;
};

/** A key that signs, and the second in which its signature counts. */
type Signer = { readonly id: string; readonly seconds: number; sign(text: string): Buffer };

// A key a month for years.
const KEYS_MAX = 100;
// 32 bytes in base64url.
const HALF = /^[A-Za-z0-9_-]{43}$/;

export class SigningKeys {
  /** Sorted by the begin of their period. */
  readonly #keys: readonly ListedKey[];

  constructor(keys: readonly ListedKey[]) {
    this.#keys = keys;
  }

  /** Reads a JSON Web Key Set with private halves; `source` names it in errors, which never contain a key. */
  static parse(text: string, source: string): SigningKeys {
    const keys = readKeySet(text, source).map((entry, at) => parseKey(entry, `${source}: key ${at + 1}`));
    keys.sort((a, b) => a.fromSeconds - b.fromSeconds);
    const newest = keys.at(-1);
    if (!newest?.privateKey || newest.untilSeconds !== null) {
      const message = `${source}: the newest key must have its private half d and no exp.`;
      throw new Fault("CONFIG_INVALID", message);
    }
    return new SigningKeys(keys);
  }

  /**
   * The newest key that is valid at a time, or else the first one after it, at the begin of its period: what is signed
   * again gets the same signature as long as the key is there.
   */
  at(seconds: number): Signer {
    const able = this.#keys.filter(({ privateKey }) => privateKey !== null);
    const isValid = ({ fromSeconds, untilSeconds }: ListedKey) =>
      fromSeconds <= seconds && seconds < (untilSeconds ?? Number.POSITIVE_INFINITY);
    const key = able.findLast(isValid) ?? able.find(({ fromSeconds }) => fromSeconds > seconds);
    if (!key?.privateKey) throw new Fault("INTERNAL", "No signing key is valid.");
    const { id, privateKey, fromSeconds } = key;
    return {
      id,
      seconds: Math.max(seconds, fromSeconds),
      sign: (given) => sign(null, Buffer.from(given), privateKey),
    };
  }

  /** For /.well-known/http-message-signatures-directory: a JSON Web Key Set, retired keys included. */
  describeDirectory(): JsonObject {
    const keys = this.#keys.map(({ id, x, fromSeconds, untilSeconds }) => ({
      ...publicJwk(x),
      kid: id,
      use: "sig",
      nbf: fromSeconds,
      ...(untilSeconds === null ? {} : { exp: untilSeconds }),
    }));
    return { keys };
  }

  /** For /.well-known/did.json: the same keys as the controller did:web of the origin. */
  describeDid(origin: string): JsonObject {
    const did = didOf(origin);
    const methods = this.#keys.map(({ id, x }) => ({
      id: `${did}#${id}`,
      type: "JsonWebKey2020",
      controller: did,
      publicKeyJwk: publicJwk(x),
    }));
    return {
      "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"],
      id: did,
      verificationMethod: methods,
      assertionMethod: methods.map(({ id }) => id),
    };
  }
}

/** The did:web of an origin: its host, with the colon before a port encoded. */
export function didOf(origin: string): string {
  return `did:web:${encodeURIComponent(new URL(origin).host)}`;
}

/** The RFC 7638 thumbprint: the public half is enough to compute it. */
export function keyIdOf(x: string): string {
  return createHash("sha256")
    .update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }))
    .digest("base64url");
}

function publicJwk(x: string) {
  return { kty: "OKP", crv: "Ed25519", x };
}

function readKeySet(text: string, source: string): readonly JsonObject[] {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    // The cause would quote the text.
    throw new Fault("CONFIG_INVALID", `${source} must be a JSON Web Key Set.`);
  }
  const keys = isJsonObject(set) ? set.keys : null;
  if (!Array.isArray(keys) || !keys.every(isJsonObject) || keys.length === 0 || keys.length > KEYS_MAX) {
    throw new Fault("CONFIG_INVALID", `${source} must have 1 to ${KEYS_MAX} keys in its member keys.`);
  }
  return keys;
}

function parseKey({ kty, crv, x, d, nbf, exp }: JsonObject, where: string): ListedKey {
  const isEnd = exp === undefined || (Number.isSafeInteger(exp) && Number(exp) > Number(nbf));
  const isKey = kty === "OKP" && crv === "Ed25519" && typeof x === "string" && HALF.test(x);
  if (!isKey || !Number.isSafeInteger(nbf) || Number(nbf) < 0 || !isEnd) {
    throw new Fault("CONFIG_INVALID", `${where} is not an Ed25519 key with nbf and, if it ends, exp.`);
  }
  const untilSeconds = exp === undefined ? null : Number(exp);
  const privateKey = d === undefined ? null : parsePrivateKey(x, d, where);
  return { id: keyIdOf(x), x, fromSeconds: Number(nbf), untilSeconds, privateKey };
}

function parsePrivateKey(x: string, d: unknown, where: string): KeyObject {
  try {
    if (typeof d !== "string" || !HALF.test(d)) throw new TypeError("not 32 bytes");
    const key = createPrivateKey({ format: "jwk", key: { ...publicJwk(x), d } });
    if (createPublicKey(key).export({ format: "jwk" }).x !== x) throw new TypeError("another public half");
    return key;
  } catch {
    // The cause could quote the key.
    throw new Fault("CONFIG_INVALID", `${where} has a private half that does not fit the public one.`);
  }
}
