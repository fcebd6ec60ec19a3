// Signatures as receivers check them: with the reference library, and by the specification if the library has no check.
import { createPublicKey, verify } from "node:crypto";
import { Webhook as ReferenceWebhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import { createWebhookSigner } from "./signing.ts";

const signer = createWebhookSigner(new Secret<Hex>(`0x${"5e".repeat(32)}`));
const body = '{"type":"webhook.test","data":{"text":"ü"}}';
const now = () => Math.floor(Date.now() / 1_000);

function sign(id: string, generation: number, isPreviousValid = false, timestamp = now()) {
  const signature = signer.sign(id, { generation, isPreviousValid }, { messageId: "msg_1", timestamp, body });
  return { "webhook-id": "msg_1", "webhook-timestamp": String(timestamp), "webhook-signature": signature };
}

/** As the specification has it, for the scheme that the library does not know. */
function verifyAsymmetric(headers: ReturnType<typeof sign>, publicKey: string): boolean {
  const prefix = Buffer.from("302a300506032b6570032100", "hex");
  const raw = Buffer.from(publicKey.replace("whpk_", ""), "base64");
  const key = createPublicKey({ key: Buffer.concat([prefix, raw]), format: "der", type: "spki" });
  const content = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
  return headers["webhook-signature"]
    .split(" ")
    .filter((each) => each.startsWith("v1a,"))
    .some((each) => verify(null, content, key, Buffer.from(each.slice(4), "base64")));
}

describe("a signature", () => {
  it("signs so that the reference library accepts the message, and no changed one", () => {
    const headers = sign("wh_a", 1);
    expect(new ReferenceWebhook(signer.secretOf("wh_a", 1)).verify(body, headers)).toEqual(JSON.parse(body));
    const changed = { ...headers, "webhook-id": "msg_2" };
    expect(() => new ReferenceWebhook(signer.secretOf("wh_a", 1)).verify(body, changed)).toThrow();
  });

  it("signs so that only the webhook's public key verifies the message", () => {
    expect(signer.publicKeyOf("wh_a", 1)).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(verifyAsymmetric(sign("wh_a", 1), signer.publicKeyOf("wh_a", 1))).toBe(true);
    expect(verifyAsymmetric(sign("wh_a", 1), signer.publicKeyOf("wh_b", 1))).toBe(false);
  });

  it("does not sign with the keys of another webhook or generation", () => {
    const headers = sign("wh_a", 2);
    for (const secret of [signer.secretOf("wh_a", 1), signer.secretOf("wh_b", 2)]) {
      expect(() => new ReferenceWebhook(secret).verify(body, headers)).toThrow();
    }
  });

  it("signs with the old and the new keys while both are valid", () => {
    const headers = sign("wh_a", 2, true);
    expect(headers["webhook-signature"].split(" ").map((each) => each.split(",")[0])).toEqual([
      "v1",
      "v1a",
      "v1",
      "v1a",
    ]);
    for (const generation of [1, 2]) {
      new ReferenceWebhook(signer.secretOf("wh_a", generation)).verify(body, headers);
      expect(verifyAsymmetric(headers, signer.publicKeyOf("wh_a", generation))).toBe(true);
    }
  });
});

it("keys never show in what is printed", () => {
  expect(JSON.stringify(signer)).not.toContain("5e5e");
  expect(signer.secretOf("wh_a", 1)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});
