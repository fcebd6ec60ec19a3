// Signing keys of tests, and a check of RFC 9421 signatures that shares no code with the signer.
import { createHash, createPublicKey, verify } from "node:crypto";
import { addSigningKey } from "../../../src/http/signing/add-signing-key.ts";
import { SigningKeys } from "../../../src/http/signing/signing-keys.ts";

/** The private half is 32 times the byte 7. */
export const TEST_KEY_SET = JSON.stringify({
  keys: [
    {
      kty: "OKP",
      crv: "Ed25519",
      x: "6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw",
      d: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc",
      nbf: 1_700_000_000,
    },
  ],
});
export const TEST_KEY_ID = "--6IM5l0OosLj9yWskISYhUA3n_3CURQkmrYMSha_ck";

export const createTestKeys = () =>
  SigningKeys.parse(addSigningKey(null, "a test", Math.floor(Date.now() / 1_000)), "a test");

type ListedKeys = { readonly keys: readonly { kid: string; kty: string; crv: string; x: string }[] };

/** Whether the response as it was received is signed for the request, by a key that its service lists. */
export async function isSignedFor(
  response: Response,
  { method = "GET", url, keys }: { readonly method?: string; readonly url: string; readonly keys: unknown },
): Promise<boolean> {
  const { host, pathname, search } = new URL(url);
  const content = Buffer.from(await response.clone().arrayBuffer());
  const digest = response.headers.get("content-digest");
  const isWhole = digest === `sha-256=:${createHash("sha256").update(content).digest("base64")}:`;
  const input = /^sextant=(.*;keyid="([^"]+)".*)$/.exec(response.headers.get("signature-input") ?? "");
  const signature = /^sextant=:(.+):$/.exec(response.headers.get("signature") ?? "")?.[1] ?? "";
  const jwk = (keys as ListedKeys).keys.find(({ kid }) => kid === input?.[2]);
  if (!isWhole || jwk === undefined || !response.headers.get("cache-control")?.includes("no-transform")) {
    return false;
  }
  const base = [
    `"@status": ${response.status}`,
    `"content-type": ${response.headers.get("content-type")}`,
    `"content-digest": ${digest}`,
    `"@method";req: ${method}`,
    `"@authority";req: ${host}`,
    `"@path";req: ${pathname}`,
    `"@query";req: ${search === "" ? "?" : search}`,
    `"@signature-params": ${input?.[1]}`,
  ];
  const key = createPublicKey({ format: "jwk", key: jwk });
  return verify(null, Buffer.from(base.join("\n")), key, Buffer.from(signature, "base64"));
}
