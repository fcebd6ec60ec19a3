// Signed offers and receipts of real purchases, checked by the verifier of x402's own package and by hand.
import { createHash, createPublicKey, verify } from "node:crypto";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import {
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_ORIGIN, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";

const signingKeys = createTestKeys();
const BLOCKS = [{ chain: "base", number: 40_000_123, hash: `0x${"a5".repeat(32)}` }];
const [listed] = (signingKeys.describeDirectory() as { keys: { kid: string; kty: string; x: string }[] })
  .keys;
const publicKey = createPublicKey({ format: "jwk", key: listed ?? {} });
let stage: PaidStage;

beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

const sold = async () => ({ status: 200, body: { total: "1", blocks: BLOCKS } });

type Statement = {
  request: { url: string };
  digest: string;
  blocks: unknown;
  payment: Record<string, string>;
};

/** The payload of our own statement, after its signature was checked. */
function statementIn(response: Response): Statement {
  const { extensions } = decodeBase64Header<{ extensions: Record<string, { signature: string }> }>(
    response,
    "payment-response",
  );
  const [header = "", payload = "", signature = ""] = (extensions["sextant-answer"]?.signature ?? "").split(
    ".",
  );
  const decode = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString());
  expect(decode(header)).toEqual({
    alg: "EdDSA",
    kid: `did:web:sold.example#${listed?.kid}`,
    typ: "sextant-answer+jws",
  });
  const signed = Buffer.from(`${header}.${payload}`);
  expect(verify(null, signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  return decode(payload);
}

const digestOf = (text: string) => `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;

describe("a transfer", () => {
  it("buys what was offered under our signature, with a receipt that names response, blocks and transaction", async () => {
    const service = await stage.serve({ offer: { signingKeys } });
    service.sold.work = sold;
    const url = `${service.url}/paid?q=one`;
    const payer = await stage.payer();
    const required = decodeBase64Header<PaymentRequired>(await fetch(url), "payment-required");
    const [offer, ...others] = extractOffersFromPaymentRequired(required);
    if (offer?.format !== "jws") throw new Error("no signed offer");
    expect(others).toEqual([]);
    const terms = await verifyOfferSignatureJWS(offer, publicKey);
    const { scheme, network, asset, payTo, amount } = required.accepts[0] ?? {};
    expect(terms).toMatchObject({ version: 1, scheme, network, asset, payTo, amount });
    const leftSeconds = terms.validUntil - Date.now() / 1_000;
    expect(leftSeconds > 299 && leftSeconds <= 600).toBe(true);

    const { header } = await signPaymentFor(url, payer, stage.asset);
    const response = await fetchWithPayment(url, header);
    const text = await response.clone().text();
    const receipt = extractReceiptFromResponse(response);
    if (receipt?.format !== "jws") throw new Error("no signed receipt");
    const { transaction } = decodeBase64Header<SettleResponse>(response, "payment-response");
    const stated = await verifyReceiptSignatureJWS(receipt, publicKey);
    expect(stated).toMatchObject({ network, payer: payer.address.toLowerCase(), transaction });
    const decoded = { ...terms, acceptIndex: 0, signedOffer: offer, format: "jws" as const };
    expect(verifyReceiptMatchesOffer(receipt, decoded, [payer.address])).toBe(true);

    const statement = statementIn(response);
    expect(statement).toMatchObject({
      request: { method: "GET", url: `${TEST_ORIGIN}/paid?q=one` },
      status: 200,
      contentType: "application/json; charset=utf-8",
      digest: digestOf(text),
      blocks: BLOCKS,
      payment: {
        scheme: "exact",
        network,
        asset,
        payTo,
        payer: payer.address.toLowerCase(),
        amount,
        transaction,
      },
    });
    expect(response.headers.get("sextant-answer")).toBeNull();
  });

  it("gets the same receipt with the stored response, also from another process", async () => {
    const [service, other] = [
      await stage.serve({ offer: { signingKeys } }),
      await stage.serve({ offer: { signingKeys } }),
    ];
    service.sold.work = sold;
    const payer = await stage.payer();
    const { header } = await signPaymentFor(`${service.url}/paid?q=again`, payer, stage.asset);
    const receipts = [];
    for (const { url } of [service, service, other]) {
      const response = await fetchWithPayment(`${url}/paid?q=again`, header);
      expect(statementIn(response).digest).toBe(digestOf(await response.text()));
      receipts.push(response.headers.get("payment-response"));
    }
    expect(new Set(receipts).size).toBe(1);
  });

  it("has a plain receipt for what was stored before there were keys", async () => {
    const before = await stage.serve();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(`${before.url}/paid?q=old`, payer, stage.asset);
    const first = await fetchWithPayment(`${before.url}/paid?q=old`, header);
    const after = await stage.serve({ offer: { signingKeys } });
    const second = await fetchWithPayment(`${after.url}/paid?q=old`, header);
    expect(second.headers.get("payment-response")).toBe(first.headers.get("payment-response"));
    expect(decodeBase64Header<object>(second, "payment-response")).not.toHaveProperty("extensions");
  });
});

it("signs the same offers once for all requests of some minutes", async () => {
  const service = await stage.serve({ offer: { signingKeys } });
  const offers = async (q: string) => {
    const required = decodeBase64Header<PaymentRequired>(
      await fetch(`${service.url}/paid?q=${q}`),
      "payment-required",
    );
    return JSON.stringify(required.extensions?.["offer-receipt"]);
  };
  expect(new Set([await offers("a"), await offers("b")]).size).toBe(1);
  expect(await offers("b:2")).toBe(await offers("c:2"));
});

describe("a voucher", () => {
  it("gets a receipt that names its channel and sum, and the same one again", async () => {
    const service = await stage.serve({ channels: {}, offer: { signingKeys } });
    service.sold.work = sold;
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    const responses = [];
    for (const [sum, q] of [
      [1n, "x"],
      [2n, "y"],
      [2n, "y"],
    ] as const) {
      responses.push(await world.send(service, sum * TEST_PRICE, q));
    }
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const required = decodeBase64Header<PaymentRequired>(
      await fetch(`${service.url}/paid?q=z`),
      "payment-required",
    );
    expect(extractOffersFromPaymentRequired(required).map(({ acceptIndex }) => acceptIndex)).toEqual([0, 1]);
    const statements = responses.map(statementIn);
    const [, second, replayed] = statements;
    expect(statements.map(({ payment }) => [payment.scheme, payment.amount, payment.cumulative])).toEqual([
      ["batch-settlement", "10000", "10000"],
      ["batch-settlement", "10000", "20000"],
      ["batch-settlement", "10000", "20000"],
    ]);
    expect(second?.payment.channel as Hex).toMatch(/^0x[0-9a-f]{64}$/);
    expect(replayed).toEqual(second);
    expect(second?.digest).toBe(digestOf((await responses[1]?.text()) ?? ""));
  });
});
