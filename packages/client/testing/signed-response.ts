// Signs responses and receipts with the crypto of Node, which shares no code with the verifier.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

export type TestSigner = {
  readonly id: string;
  readonly key: KeyObject;
  readonly jwk: { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string };
};

/** An Ed25519 key from 32 bytes that a test names by one of them. */
export function createSigner(byte: number): TestSigner {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const text = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
  return {
    id: createHash("sha256").update(text).digest("base64url"),
    key,
    jwk: { kty: "OKP", crv: "Ed25519", x },
  };
}

export type StoredResponse = {
  format: string;
  version: number;
  request: { method: string; url: string };
  response: { status: number; headers: Record<string, string>; body: string };
};

const COMPONENTS =
  '("@status" "content-type" "content-digest" "@method";req "@authority";req "@path";req "@query";req)';
const TYPE = "application/json; charset=utf-8";

const digestOf = (body: string) => `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;

/** A stored file with the signature of its response. */
export function signResponse(
  body: string,
  url: string,
  signer: TestSigner,
  created: number,
  status = 200,
): StoredResponse {
  const { host, pathname, search } = new URL(url);
  const digest = digestOf(body);
  const parameters = `${COMPONENTS};created=${created};keyid="${signer.id}";alg="ed25519";tag="sextant-answer"`;
  const base = [
    `"@status": ${status}`,
    `"content-type": ${TYPE}`,
    `"content-digest": ${digest}`,
    '"@method";req: GET',
    `"@authority";req: ${host}`,
    `"@path";req: ${pathname}`,
    `"@query";req: ${search === "" ? "?" : search}`,
    `"@signature-params": ${parameters}`,
  ].join("\n");
  const signature = sign(null, Buffer.from(base), signer.key).toString("base64");
  const headers = {
    "content-type": TYPE,
    "content-digest": digest,
    "signature-input": `sextant=${parameters}`,
    signature: `sextant=:${signature}:`,
  };
  return {
    format: "sextant-answer",
    version: 1,
    request: { method: "GET", url },
    response: { status, headers, body },
  };
}

export type ReceiptClaims = Record<string, unknown>;

/** The payload of a receipt of the response, for a test to change. */
export function receiptOf(
  body: string,
  url: string,
  issuedAt: number,
  blocks: readonly unknown[],
): ReceiptClaims {
  return {
    version: 1,
    issuedAt,
    request: { method: "GET", url },
    ...{ status: 200, contentType: TYPE, digest: digestOf(body), blocks },
    payment: {
      scheme: "exact",
      network: "eip155:84532",
      amount: "10000",
      transaction: `0x${"7a".repeat(32)}`,
    },
  };
}

/** The header PAYMENT-RESPONSE with a receipt. */
export function signReceipt(
  claims: ReceiptClaims,
  host: string,
  signer: TestSigner,
  head: object = {},
): string {
  const kid = `did:web:${host.replace(":", "%3A")}#${signer.id}`;
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encode({ alg: "EdDSA", kid, typ: "sextant-answer+jws", ...head })}.${encode(claims)}`;
  const jws = `${text}.${sign(null, Buffer.from(text), signer.key).toString("base64url")}`;
  const settlement = { success: true, extensions: { "sextant-answer": { signature: jws } } };
  return Buffer.from(JSON.stringify(settlement)).toString("base64");
}
