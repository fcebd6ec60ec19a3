// Payments are parsed strictly: malformed ones are rejected with our own messages, valid ones round-trip.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { resourceFingerprint, resourceUrl } from "./offer.ts";
import { findTermsViolation, type Payment, parseExactPayment } from "./payment.ts";
import { parsePaymentHeader } from "./payment-envelope.ts";

const ASSET = `0x${"aa".repeat(20)}` as const;
const TERMS = {
  network: "eip155:8453",
  asset: ASSET,
  payTo: `0x${"bb".repeat(20)}`,
  amount: 10_000n,
} as const;
const NOW = 1_800_000_000;

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => `0x${Buffer.from(value).toString("hex")}`);

const valid = (changed: object = {}) => ({
  x402Version: 2,
  accepted: { scheme: "exact", network: TERMS.network, asset: ASSET, payTo: TERMS.payTo, amount: "10000" },
  payload: {
    authorization: {
      ...{ from: `0x${"cc".repeat(20)}`, to: TERMS.payTo, value: "10000" },
      ...{ validAfter: "0", validBefore: String(NOW + 60), nonce: `0x${"dd".repeat(32)}` },
      ...changed,
    },
    signature: `0x${"ee".repeat(65)}`,
  },
});
const header = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const readHeader = (text: string) => {
  const envelope = parsePaymentHeader(text, TERMS);
  return "unsupported" in envelope ? envelope : parseExactPayment(envelope, "The PAYMENT-SIGNATURE header");
};
const read = (value: unknown) => readHeader(header(value));

describe("a payment header", () => {
  it("says what is accepted to a payment of another kind, whatever its identifier is", () => {
    const extensions = { "payment-identifier": { info: { required: false, id: "?" } } };
    const permit2 = { payload: { permit2Authorization: {}, signature: "0x00" } };
    const accepted = { scheme: "exact", network: TERMS.network, asset: ASSET };
    for (const changed of [
      { accepted: { ...accepted, scheme: "upto" } },
      { accepted: { ...accepted, network: "eip155:1" } },
      { accepted: { ...accepted, asset: `0x${"cc".repeat(20)}` } },
      permit2,
    ]) {
      expect(read({ ...valid(), ...changed, extensions })).toHaveProperty("unsupported");
    }
    expect(() => read({ ...valid(), extensions })).toThrow("The payment identifier must have");
  });

  it("reads a payment header as it was written, in lower case", () => {
    fc.assert(
      fc.property(
        hex(20),
        hex(32),
        hex(130),
        fc.bigInt(0n, 2n ** 256n - 1n),
        (from, nonce, signature, value) => {
          const sent = valid({
            from: from.toUpperCase().replace("0X", "0x"),
            nonce,
            value: value.toString(),
          });
          const payment = read({ ...sent, payload: { ...sent.payload, signature } });
          expect(payment).toMatchObject({ from, nonce, signature, value, paymentId: null });
        },
      ),
    );
  });

  it("takes the longest signature together with the extensions that clients return", () => {
    const signature = `0x${"ee".repeat(4_096)}`;
    const sent = { ...valid(), extensions: { bazaar: { info: "a".repeat(1_800) } } };
    expect(read({ ...sent, payload: { ...sent.payload, signature } })).toMatchObject({ signature });
  });

  it("names a header of version 1 as such, with what to do", () => {
    expect(read({ x402Version: 1, scheme: "exact", network: "base", payload: valid().payload })).toEqual({
      unsupported: expect.stringMatching(/is of x402 version 1, and only version 2 .* PAYMENT-REQUIRED\.$/),
    });
  });

  it("accepts no time that the ledger cannot hold", () => {
    for (const validBefore of [2n ** 63n, 2n ** 256n - 1n]) {
      expect(read(valid({ validBefore: validBefore.toString() }))).toEqual({
        unsupported: "The payment is valid for longer than a day.",
      });
    }
    expect(read(valid({ validBefore: String(2n ** 63n - 1n) }))).toMatchObject({
      validBefore: 2n ** 63n - 1n,
    });
  });

  it("fails only with a sentence of ours, whatever the header", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.json().map((text) => Buffer.from(text).toString("base64")),
        ),
        (text) => {
          try {
            readHeader(text);
          } catch (error) {
            expect(error).toBeInstanceOf(Fault);
            expect((error as Fault).code).toBe("INPUT_INVALID");
            expect((error as Fault).message).toMatch(/^The PAYMENT-SIGNATURE header .*\.$/);
          }
        },
      ),
    );
  });

  it.each([
    { from: "0x12" },
    { to: 5 },
    { value: 10_000 },
    { value: "-1" },
    { value: (2n ** 256n).toString() },
    { validBefore: "1e9" },
    { nonce: "0x" },
  ])("rejects a payment header with %j", (changed) => {
    expect(() => read(valid(changed))).toThrow(Fault);
  });

  it("takes an identifier of the right form only", () => {
    const named = (id: unknown) => ({
      ...valid(),
      extensions: { "payment-identifier": { info: { required: false, id } } },
    });
    expect(read(named("order-0123456789"))).toMatchObject({ paymentId: "order-0123456789" });
    for (const id of ["short", "with space in the middle", "x".repeat(129), 5])
      expect(() => read(named(id))).toThrow(Fault);
  });

  it("has another digest as soon as anything signed differs", () => {
    const digest = (changed: object) => (read(valid(changed)) as Payment).digest;
    const changes = [
      {},
      { value: "1" },
      { validAfter: "1" },
      { validBefore: "1" },
      { to: ASSET },
      { nonce: `0x${"00".repeat(32)}` },
    ];
    expect(new Set(changes.map(digest)).size).toBe(changes.length);
  });
});

describe("terms", () => {
  const objection = (changed: object) =>
    findTermsViolation(read(valid(changed)) as Payment, TERMS, { nowMs: NOW * 1_000, settleMs: 12_000 });

  it("accepts only a payment that meets the terms", () => {
    expect(objection({})).toBeNull();
    const wrong = [
      { to: ASSET },
      { value: "9999" },
      { value: "10001" },
      { validAfter: String(NOW + 1) },
      { validBefore: String(NOW) },
      { validBefore: String(NOW + 11) },
      { validBefore: String(NOW + 86_401) },
    ];
    for (const changed of wrong) expect(objection(changed)?.message).toMatch(/^The payment .*\.$/);
  });
});

describe("what a payment is for", () => {
  it("identifies a request by all but the order of its query, and HEAD as GET", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (query) => {
        const turned = Object.fromEntries(Object.entries(query).reverse());
        const of = (changed: object) => resourceFingerprint({ method: "GET", path: "/a", query, ...changed });
        expect(of({ query: turned })).toBe(of({}));
        expect(of({ method: "HEAD" })).toBe(of({}));
        expect(of({ method: "POST" })).not.toBe(of({}));
        expect(of({ path: "/b" })).not.toBe(of({}));
        expect(of({ query: { ...query, more: "x" } }) === of({})).toBe(query.more === "x");
        expect(
          resourceUrl("https://a.example", { method: "GET", path: "/a", query }).length,
        ).toBeLessThanOrEqual(2_000);
      }),
    );
  });
});
