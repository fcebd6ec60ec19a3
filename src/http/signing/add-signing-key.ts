// Makes a signing key: the first of a set, or the next one, which begins a day later and overlaps with the one before.
import { generateKeyPairSync } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import { keyIdOf, SigningKeys } from "./signing-keys.ts";

// Time to restart every process, and for caches of the directory to end.
const OVERLAP_SECONDS = 86_400;

/**
 * Returns the set with one more key, as text. The key before lasts until a day after the new one has begun; keys that have
 * been over for a day lose their private half and stay listed.
 */
export function addSigningKey(text: string | null, source: string, nowSeconds: number): string {
  const known = text === null ? [] : readKeys(text, source);
  const begin = known.length === 0 ? nowSeconds : nowSeconds + OVERLAP_SECONDS;
  const keys = known.map(({ d, ...key }) => {
    const exp = typeof key.exp === "number" ? key.exp : begin + OVERLAP_SECONDS;
    return { ...key, exp, ...(d === undefined || exp + OVERLAP_SECONDS < nowSeconds ? {} : { d }) };
  });
  const set = `${JSON.stringify({ keys: [...keys, createKey(begin)] }, null, 2)}\n`;
  SigningKeys.parse(set, source);
  return set;
}

function readKeys(text: string, source: string): readonly JsonObject[] {
  SigningKeys.parse(text, source);
  return (JSON.parse(text) as { keys: readonly JsonObject[] }).keys;
}

function createKey(nbf: number): JsonObject {
  const { x = "", d } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { kty: "OKP", crv: "Ed25519", kid: keyIdOf(x), x, d, nbf };
}
