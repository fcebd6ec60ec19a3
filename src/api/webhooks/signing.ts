// Signatures by the Standard Webhooks specification. Every endpoint has keys of its own, derived from one: none is stored.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign as signBytes,
} from "node:crypto";
import type { Hex } from "../../lib/hex.ts";
import type { Secret } from "../../lib/secret.ts";

/** The keys of an endpoint: the current ones, and those before them until they expire. */
export type KeyGenerations = {
  readonly generation: number;
  /** Whether the generation before still signs, so that a receiver can change over. */
  readonly isPreviousValid: boolean;
};

type SignedContent = {
  readonly messageId: string;
  /** Unix seconds of the attempt. */
  readonly timestamp: number;
  readonly body: string;
};

export type WebhookSigner = {
  /** The symmetric secret, as receivers configure it: `whsec_…`. */
  secretOf(id: string, generation: number): string;
  /** The public key, as receivers configure it: `whpk_…`. */
  publicKeyOf(id: string, generation: number): string;
  /** The value of the header webhook-signature: one of each kind for every valid generation. */
  sign(id: string, keys: KeyGenerations, content: SignedContent): string;
};

const KEY_BYTES = 32;
// PKCS #8 of an Ed25519 key (RFC 8410) up to its seed, which is the key.
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
// DER of the public key ends with its 32 bytes.
const PUBLIC_KEY_BYTES = 32;

export function createWebhookSigner(key: Secret<Hex>): WebhookSigner {
  function derive(kind: "hmac" | "ed25519", id: string, generation: number): Buffer {
    const root = Buffer.from(key.reveal().slice(2), "hex");
    const purpose = `sextant webhook ${kind} ${id} ${generation}`;
    return Buffer.from(hkdfSync("sha256", root, Buffer.alloc(0), purpose, KEY_BYTES));
  }

  function privateKeyOf(id: string, generation: number): KeyObject {
    const seed = derive("ed25519", id, generation);
    return createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, seed]), format: "der", type: "pkcs8" });
  }

  return {
    secretOf: (id, generation) => `whsec_${derive("hmac", id, generation).toString("base64")}`,
    publicKeyOf(id, generation) {
      const der = createPublicKey(privateKeyOf(id, generation)).export({ format: "der", type: "spki" });
      return `whpk_${der.subarray(-PUBLIC_KEY_BYTES).toString("base64")}`;
    },
    sign(id, keys, { messageId, timestamp, body }) {
      const content = Buffer.from(`${messageId}.${timestamp}.${body}`);
      return listGenerations(keys)
        .flatMap((generation) => [
          `v1,${createHmac("sha256", derive("hmac", id, generation))
            .update(content)
            .digest("base64")}`,
          `v1a,${signBytes(null, content, privateKeyOf(id, generation)).toString("base64")}`,
        ])
        .join(" ");
    },
  };
}

/** The current one first. */
export function listGenerations({ generation, isPreviousValid }: KeyGenerations): readonly number[] {
  return isPreviousValid ? [generation, generation - 1] : [generation];
}
