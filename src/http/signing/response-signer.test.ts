// Signatures are byte for byte those that http-message-signatures 1.0.6 makes for the same response, request, key and time.
import { describe, expect, it } from "vitest";
import { TEST_KEY_ID, TEST_KEY_SET } from "../../../tests/support/signing/test-keys.ts";
import { systemClock } from "../../lib/clock.ts";
import { serializeResponse } from "../response.ts";
import { ResponseSigner } from "./response-signer.ts";
import { SigningKeys } from "./signing-keys.ts";

const keys = SigningKeys.parse(TEST_KEY_SET, "the test");
const clock = { ...systemClock, nowMs: () => 1_794_900_000_999 };
const body = Buffer.from('{"agents":[],"pagination":{"next_cursor":null}}');
const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-cache" };
const response = serializeResponse({ route: "/agents", body, headers, computeEtag: true });

function signedHeaders(publicUrl: string, request: { method: string; url: string }) {
  const signed = new ResponseSigner({ keys, clock, publicUrl: () => publicUrl }).sign(response, request);
  const names = signed.headers.filter((_, at) => at % 2 === 0);
  expect(new Set(names).size).toBe(names.length);
  const of = (name: string) => signed.headers[2 * names.indexOf(name) + 1];
  return { signed, of };
}

describe("a signed response", () => {
  it.each([
    [
      "https://api.example",
      "GET",
      "/agents?limit=2&signed=1",
      "kFl0IkfmtZFQRp/4j++UMTlc/q63nNDoGfIGUm9+BZ7AkPnPA7TovJM0DKqiyKRnT/ygmI9fIGHT8RU7HKbuCw==",
    ],
    [
      "http://127.0.0.1:3001",
      "GET",
      "/agents/1",
      "7tA7fG8XICeaxMe8EvuZVTGaEGxYdlu+r+/uxDIZCb2mxbBgstlFnkpTEydVz8js5l0hRviNArfyhcsNAm09Ag==",
    ],
    [
      "https://api.example:443/d/second/",
      "GET",
      "/agents?owner=0xAB%2F&signed=1",
      "BIIs0d57h4z2FK7ioxdjzE6TFYcOQ2fhvkzIVS2D8njXBjiN3Xx4BXAbbI3mwnHpiacUfrBmFLo4HT+mKmAFDQ==",
    ],
  ])("has the signature of the other library: %s %s %s", (publicUrl, method, url, signature) => {
    const { of } = signedHeaders(publicUrl, { method, url });
    expect(of("content-digest")).toBe("sha-256=:UGX+O97qpxUXNu1D/ZSKWAMkwkB7Pzhuclr2HOuSkX8=:");
    expect(of("signature-input")).toBe(
      `sextant=("@status" "content-type" "content-digest" "@method";req "@authority";req "@path";req "@query";req);created=1794900000;keyid="${TEST_KEY_ID}";alg="ed25519";tag="sextant-answer"`,
    );
    expect(of("signature")).toBe(`sextant=:${signature}:`);
  });

  it("forbids proxies to change its content, and never becomes a 304", () => {
    const { signed, of } = signedHeaders("https://api.example", { method: "GET", url: "/agents" });
    expect(of("cache-control")).toBe("no-cache, no-transform");
    expect(signed.etag).toBeNull();
    expect(signed.body).toBe(response.body);
  });

  it("lets pages of other origins read what they need to check it", () => {
    const { of } = signedHeaders("https://api.example", { method: "GET", url: "/agents" });
    const exposed = of("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["Content-Digest", "Signature", "Signature-Input"]));
    expect(exposed?.[0]).toBe("*");
  });

  it("is none for HEAD, which has no content", () => {
    const { signed, of } = signedHeaders("https://api.example", { method: "HEAD", url: "/agents" });
    expect(signed).toBe(response);
    expect(of("content-digest")).toBeUndefined();
  });

  it("is an error for as many a second only as a flood may cost", () => {
    let nowMs = 1_794_900_000_000;
    const options = { keys, clock: { ...clock, nowMs: () => nowMs }, publicUrl: () => "https://api.example" };
    const signer = new ResponseSigner(options);
    const request = { method: "GET", url: "/agents" };
    const isSigned = (status: number) =>
      signer.sign({ ...response, status }, request).headers.includes("signature");
    const flood = Array.from({ length: 600 }, () => isSigned(402));
    expect(flood.filter(Boolean)).toHaveLength(500);
    expect([isSigned(402), isSigned(404), isSigned(200), isSigned(307)]).toEqual([false, false, true, true]);
    nowMs += 1_000;
    expect([isSigned(402), isSigned(404)]).toEqual([true, true]);
  });

  it("has another signature for another status", () => {
    const request = { method: "GET", url: "/agents" };
    const signer = new ResponseSigner({ keys, clock, publicUrl: () => "https://api.example" });
    const [ok, conflict] = [200, 409].map((status) => signer.sign({ ...response, status }, request).headers);
    expect(ok?.at(-1)).not.toBe(conflict?.at(-1));
  });
});
