// The 402 response: its header is put together from parts, and must read like one object encoded as a whole.
import { decodePaymentRequiredHeader } from "@x402/core/http";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { anyCharacter } from "../../../tests/support/any-character.ts";
import { TEST_KEY_SET } from "../../../tests/support/signing/test-keys.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { SigningKeys } from "../../http/signing/signing-keys.ts";
import { systemClock } from "../../lib/clock.ts";
import { Secret } from "../../lib/secret.ts";
import { SignInChallenges } from "../sign-in/challenges.ts";
import {
  createListing,
  type PaymentOffer,
  paymentRequiredResponse,
  paymentRequirementsFor,
  withSignIn,
} from "./offer.ts";

const listing = createListing({
  method: "GET",
  path: "/portfolio",
  serviceName: "Sextant",
  tags: ["wallet"],
  iconPath: "/icon.svg",
  input: { schema: { type: "object" }, example: { address: "0x1" } },
  output: { schema: { type: "object" }, example: { totalValueUsd: "1.00" } },
});

const offerOf = (changes: Partial<PaymentOffer> = {}): PaymentOffer => ({
  network: "eip155:8453",
  asset: `0x${"11".repeat(20)}`,
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  payTo: `0x${"22".repeat(20)}`,
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  description: "A snapshot of a wallet.",
  mimeType: "application/json",
  resourceOrigin: "https://api.example",
  listing,
  ...changes,
});

function headerOf(offer: PaymentOffer, address: string, reason: string) {
  const resource = { method: "GET", path: "/portfolio", query: { address } };
  const { headers, body } = paymentRequiredResponse(offer, resource, reason);
  return { header: headers?.["payment-required"] ?? "", body };
}

it("carries in its header one object with reason, resource, terms and extensions, whatever their lengths", () => {
  const offer = offerOf();
  const texts = fc.string({ unit: anyCharacter, maxLength: 40 });
  const addresses = fc.string({ unit: "grapheme-ascii", maxLength: 40 });
  fc.assert(
    fc.property(texts, addresses, (reason, address) => {
      const { header, body } = headerOf(offer, address, reason);
      expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
      const decoded = decodePaymentRequiredHeader(header);
      expect(Object.keys(decoded)).toEqual(["x402Version", "error", "resource", "accepts", "extensions"]);
      expect(decoded).toMatchObject({
        x402Version: 2,
        error: reason,
        resource: {
          url: `https://api.example/portfolio?address=${encodeURIComponent(address)}`,
          description: offer.description,
          serviceName: "Sextant",
        },
        accepts: [paymentRequirementsFor(offer)],
        extensions: { bazaar: listing.bazaar },
      });
      expect(body).toEqual({ x402Version: 2, error: reason, accepts: decoded.accepts });
    }),
    { numRuns: runsOf(500) },
  );
});

it("carries a challenge to sign in next to the other extensions, a new one in each header", () => {
  const plain = offerOf();
  const offer = withSignIn(plain, new SignInChallenges(new Secret(Buffer.alloc(32, 7)), systemClock));
  const decode = (header: string) => decodePaymentRequiredHeader(header);
  const nonces = new Set<unknown>();
  const texts = fc.string({ unit: anyCharacter, maxLength: 40 });
  fc.assert(
    fc.property(texts, (reason) => {
      const expected = decode(headerOf(plain, "0x1", reason).header);
      const { extensions = {}, ...rest } = decode(headerOf(offer, "0x1", reason).header);
      const { "sign-in-with-x": signIn, ...others } = extensions;
      expect({ ...rest, extensions: others }).toEqual(expected);
      expect(signIn).toEqual({
        info: {
          domain: "api.example",
          uri: "https://api.example/portfolio",
          version: "1",
          nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
          issuedAt: expect.stringMatching(/^20.*Z$/),
        },
        supportedChains: [{ chainId: "eip155:8453", type: "eip191" }],
        schema: {},
      });
      const before = nonces.size;
      expect(nonces.add((signIn as { info: { nonce: string } }).info.nonce).size).toBe(before + 1);
    }),
    { numRuns: runsOf(500) },
  );
});

it("states the terms of its own offer next to another one", () => {
  const [cheap, dear] = [offerOf(), offerOf({ amount: 20_000n, listing: null })];
  const amounts = [cheap, dear, cheap].map(
    (offer) => decodePaymentRequiredHeader(headerOf(offer, "0x1", "No.").header).accepts[0]?.amount,
  );
  expect(amounts).toEqual(["10000", "20000", "10000"]);
});

it("signs its offers once, also for the corrections of channels", () => {
  const signingKeys = SigningKeys.parse(TEST_KEY_SET, "the test");
  const signer = vi.spyOn(signingKeys, "at");
  const channels = {
    receiverAuthorizer: `0x${"33".repeat(20)}`,
    withdrawDelay: 900,
    minDeposit: 1n,
  } as const;
  const offer = offerOf({ signingKeys, channels });
  const resource = { method: "GET", path: "/portfolio", query: {} };
  const [plain, ...corrected] = [null, { charged: "5" }, { charged: "6" }].map((correction) => {
    const { headers } = paymentRequiredResponse(offer, resource, "Pay.", correction);
    return decodePaymentRequiredHeader(headers?.["payment-required"] ?? "");
  });
  expect(signer).toHaveBeenCalledTimes(plain?.accepts.length ?? 0);
  expect(corrected.map(({ accepts }) => accepts[1]?.extra.charged)).toEqual(["5", "6"]);
  for (const { extensions } of corrected) expect(extensions).toEqual(plain?.extensions);
});
