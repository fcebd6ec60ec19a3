// Credentials are parsed strictly, and a challenge is good for the request, the terms and the realm that it was issued for.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeCredential,
  encodeCredential,
  parseChallenge,
  testMppKey,
  type WireCredential,
} from "../../../tests/support/payments/mpp-client.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { Fault } from "../../lib/fault.ts";
import { ChallengeIssuer, type MppChallenge } from "./challenges.ts";
import { parseCredential, readCredential } from "./credential.ts";

const OFFER = {
  network: "eip155:8453",
  asset: `0x${"aa".repeat(20)}`,
  decimals: 6,
  payTo: `0x${"bb".repeat(20)}`,
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  resourceOrigin: "https://sold.example",
} as const;
const NOW_MS = 1_800_000_000_000;
const issuer = new ChallengeIssuer(testMppKey, { nowMs: () => NOW_MS + 999, sleep: async () => undefined });

const issue = () => parseChallenge(issuer.issue(OFFER, "one"));

const VALID: WireCredential = {
  challenge: issue(),
  payload: {
    ...{ type: "authorization", from: `0x${"cc".repeat(20)}`, to: OFFER.payTo, value: "10000" },
    ...{ validAfter: "0", validBefore: "1800000120", nonce: `0x${"dd".repeat(32)}` },
    signature: `0x${"ee".repeat(65)}`,
  },
  source: "did:pkh:eip155:8453:0xcc",
};

describe("a challenge", () => {
  it("states the exact terms, and expires after the time to sign and to settle", () => {
    const { id, request, expires, opaque, ...rest } = issue();
    expect(rest).toEqual({ realm: "sold.example", method: "evm", intent: "charge" });
    expect(expires).toBe("2027-01-15T08:02:00Z");
    expect(Buffer.from(request, "base64url").toString()).toBe(
      '{"amount":"10000","currency":"0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa","methodDetails":{"chainId":8453,"credentialTypes":["authorization"],"decimals":6},"recipient":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"}',
    );
    expect(id).toMatch(/^[\w-]{43}$/);
    expect(issue().id).not.toBe(id);
    expect(JSON.stringify(issuer)).toBe("{}");
  });

  it("is good for its request, terms and realm only, whatever is changed in it", () => {
    const challenge = issue();
    expect(issuer.hasIssued(challenge, OFFER, "one")).toBe(true);
    expect(issuer.hasIssued(challenge, OFFER, "two")).toBe(false);
    expect(issuer.hasIssued(challenge, { ...OFFER, amount: 9_999n }, "one")).toBe(false);
    expect(issuer.hasIssued(challenge, { ...OFFER, resourceOrigin: "https://x.example" }, "one")).toBe(false);
    const names = Object.keys(challenge) as (keyof MppChallenge)[];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string(), fc.nat(200), (name, text, at) => {
        const value = challenge[name];
        for (const changed of [text, value.slice(0, at) + text + value.slice(at + 1), `${value}=`]) {
          if (changed !== value)
            expect(issuer.hasIssued({ ...challenge, [name]: changed }, OFFER, "one")).toBe(false);
        }
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  it("is not good when text moves from one parameter to the next", () => {
    const challenge = issue();
    const { intent, request } = challenge;
    const moved = { ...challenge, intent: intent + request.slice(0, 1), request: request.slice(1) };
    expect(issuer.hasIssued(moved, OFFER, "one")).toBe(false);
  });
});

describe("a credential", () => {
  const parse = (value: unknown) => parseCredential(encodeCredential(value));

  it("is read from either header, and only if Authorization is of its scheme", () => {
    for (const other of ["Bearer x", "Paymenting x", "", undefined]) {
      expect(readCredential({ authorization: other })).toBeUndefined();
      expect(readCredential({ authorization: other, "payment-authorization": "Payment x" })).toBe(
        "Payment x",
      );
    }
    expect(readCredential({ authorization: "payment x" })).toBe("payment x");
    expect(() =>
      readCredential({ authorization: "Payment x", "payment-authorization": "Payment x" }),
    ).toThrow("Send one payment");
  });

  it("is read as it was written, without its source too", () => {
    const { source: _, ...rest } = VALID;
    const parsed = parse(VALID);
    expect(parsed).toMatchObject({
      challenge: VALID.challenge,
      payment: { value: 10_000n, validBefore: 1_800_000_120n, paymentId: null },
      source: VALID.source,
    });
    expect(parse(rest)).toMatchObject({ source: null });
    expect(parse({ ...VALID, payload: { ...VALID.payload, validBefore: String(2n ** 64n) } })).toEqual({
      unsupported: "The payment is valid for longer than a day.",
    });
  });

  it("is read or rejected with a sentence about it, and nothing else happens, whatever it is", () => {
    const expectSentence = (header: string) => {
      try {
        const parsed = parseCredential(header);
        expect("unsupported" in parsed || parsed.payment.paymentId === null).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        expect(error).toMatchObject({
          code: "INPUT_INVALID",
          message: expect.stringMatching(/^The Payment credential.*\.$/s),
        });
      }
    };
    const valid = encodeCredential(VALID);
    const paths = [
      ...Object.keys(VALID.challenge).map((name) => ["challenge", name] as const),
      ...Object.keys(VALID.payload).map((name) => ["payload", name] as const),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.jsonValue(),
        fc.string(),
        fc.nat(900),
        ([part, name], value, text, at) => {
          expectSentence(text);
          expectSentence(`Payment ${text}`);
          expectSentence(encodeCredential(value));
          expectSentence(valid.slice(0, at) + text + valid.slice(at + 1));
          expectSentence(encodeCredential({ ...VALID, [part]: value }));
          expectSentence(encodeCredential({ ...VALID, source: value }));
          expectSentence(encodeCredential({ ...VALID, [part]: { ...VALID[part], [name]: value } }));
        },
      ),
      { numRuns: runsOf(2_000) },
    );
    expect(decodeCredential(valid)).toEqual(VALID);
  });

  it("is rejected if it has more than 15,360 characters", () => {
    const long = encodeCredential({ ...VALID, padding: "a".repeat(10_000) });
    expect(parseCredential(long)).toHaveProperty("payment");
    expect(() => parseCredential(`Payment ${"a".repeat(15_353)}`)).toThrow("at most 15360 characters");
  });
});
