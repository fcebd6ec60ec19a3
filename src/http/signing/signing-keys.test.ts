// Sets of signing keys: periods, rotation with overlap, and sets that are rejected without showing a key.
import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TEST_KEY_ID, TEST_KEY_SET } from "../../../tests/support/signing/test-keys.ts";
import { addSigningKey } from "./add-signing-key.ts";
import { issueStatement } from "./jws.ts";
import { SigningKeys } from "./signing-keys.ts";

const DAY = 86_400;
const NOW = 1_800_000_000;
type Jwk = { kid: string; x: string; d?: string; nbf: number; exp?: number };
const keysIn = (text: string) => (JSON.parse(text) as { keys: Jwk[] }).keys;
const listed = (keys: SigningKeys) => keysIn(JSON.stringify(keys.describeDirectory()));

/** A set after a rotation every 30 days, and the time of the last one. */
function rotate(times: number) {
  let text = addSigningKey(null, "the test", NOW);
  for (let each = 1; each <= times; each += 1) text = addSigningKey(text, "the test", NOW + each * 30 * DAY);
  return { text, keys: SigningKeys.parse(text, "the test"), now: NOW + times * 30 * DAY };
}

describe("rotation", () => {
  it("signs with the old key for a day more, and accepts both for the day after", () => {
    const { keys, now } = rotate(1);
    const [old, next] = listed(keys);
    expect(old).toMatchObject({ nbf: NOW, exp: now + 2 * DAY });
    expect(next?.nbf).toBe(now + DAY);
    expect(next?.exp).toBeUndefined();
    expect(keys.at(now + DAY - 1).id).toBe(old?.kid);
    expect(keys.at(now + DAY).id).toBe(next?.kid);
  });

  it("keeps retired keys listed without their private half, which nothing lists", () => {
    const { text, keys } = rotate(3);
    expect(keysIn(text).map(({ d }) => d !== undefined)).toEqual([false, false, true, true]);
    expect(listed(keys).map(({ kid }) => kid)).toEqual(keysIn(text).map(({ kid }) => kid));
    expect(JSON.stringify([keys.describeDirectory(), keys.describeDid("https://a.example")])).not.toContain(
      '"d"',
    );
  });

  it("signs nothing with a key after its end, which an operator may set to any time", () => {
    const [stolen, next] = keysIn(rotate(1).text);
    const set = { keys: [{ ...stolen, exp: NOW + DAY }, next] };
    const keys = SigningKeys.parse(JSON.stringify(set), "the test");
    expect(keys.at(NOW + DAY - 1)).toMatchObject({ id: stolen?.kid, seconds: NOW + DAY - 1 });
    expect(keys.at(NOW + DAY)).toMatchObject({ id: next?.kid, seconds: next?.nbf });
  });

  it("never signs outside the period of a key, for any time", () => {
    const { keys, now } = rotate(4);
    const periods = new Map(listed(keys).map((key) => [key.kid, key]));
    for (let at = NOW - 10 * DAY; at < now + 10 * DAY; at += 7_919) {
      const { id, seconds } = keys.at(at);
      const { nbf = Infinity, exp = Infinity } = periods.get(id) ?? {};
      expect([at, seconds >= at, seconds >= nbf, seconds < exp]).toEqual([at, true, true, true]);
    }
  });
});

describe("a set that is rejected", () => {
  const [key] = keysIn(TEST_KEY_SET);
  const other = keysIn(addSigningKey(null, "the test", NOW))[0];
  it.each([
    ["another file", "not JSON"],
    ["no key", { keys: [] }],
    ["too many keys", { keys: Array(101).fill(key) }],
    ["another curve", { keys: [{ ...key, crv: "X25519" }] }],
    ["no begin", { keys: [{ ...key, nbf: undefined }] }],
    ["an end before the begin", { keys: [{ ...key, exp: 5 }, other] }],
    ["a private half of another key", { keys: [{ ...key, d: other?.d }] }],
    ["no private half", { keys: [{ ...key, d: undefined }] }],
    ["a newest key that ends", { keys: [{ ...key, exp: 2_000_000_000 }] }],
  ])("names its source and shows no key: %s", (_, set) => {
    const text = typeof set === "string" ? set : JSON.stringify(set);
    let message = "";
    try {
      SigningKeys.parse(text, "SEXTANT_SIGNING_KEYS");
    } catch (error) {
      message = String(error) + String((error as Error).cause ?? "");
    }
    expect(message).toContain("SEXTANT_SIGNING_KEYS");
    for (const jwk of [key, other]) expect(message).not.toContain(jwk?.d?.slice(0, 12));
  });
});

it("names a key by its thumbprint, and the controller by host and port", () => {
  const keys = SigningKeys.parse(TEST_KEY_SET, "the test");
  expect(keys.at(NOW).id).toBe(TEST_KEY_ID);
  expect(keys.describeDid("http://127.0.0.1:3002")).toMatchObject({
    id: "did:web:127.0.0.1%3A3002",
    assertionMethod: [`did:web:127.0.0.1%3A3002#${TEST_KEY_ID}`],
  });
});

it("issues the same statement again, which its public half verifies", () => {
  const keys = SigningKeys.parse(TEST_KEY_SET, "the test");
  const issue = () =>
    issueStatement(keys, { origin: "https://a.example", seconds: NOW }, (at) => ({ b: at, a: "ü" }));
  const [header = "", payload = "", signature = ""] = issue().split(".");
  expect(issue()).toBe([header, payload, signature].join("."));
  expect(Buffer.from(payload, "base64url").toString()).toBe(`{"a":"ü","b":${NOW}}`);
  const key = createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "Ed25519", x: listed(keys)[0]?.x ?? "" },
  });
  const input = Buffer.from(`${header}.${payload}`);
  expect(verify(null, input, key, Buffer.from(signature, "base64url"))).toBe(true);
});
