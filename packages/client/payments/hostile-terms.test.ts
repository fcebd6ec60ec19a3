// Servers that want more than the guard allows, send nonsense, or never end: nothing is signed for any of them.
import type { RequestListener } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../create-sextant.ts";
import { createMemoryJournal } from "../journal/journal.ts";
import {
  createCountingPayer,
  encode,
  GUARD,
  requirePayment,
  type ScriptedService,
  startScriptedService,
  TERMS,
} from "../testing/scripted-service.ts";

const ADDRESS = `0x${"77".repeat(20)}`;
const OTHER = `0x${"ee".repeat(20)}`;

const changed = (change: Readonly<Record<string, unknown>>): RequestListener => {
  return (_, response) => requirePayment(response, [{ ...TERMS, ...change }]);
};
const header = (text: string): RequestListener => {
  return (_, response) => response.writeHead(402, { "payment-required": text }).end("{}");
};
const offers = (accepts: unknown): RequestListener => {
  return (_, response) => requirePayment(response, accepts);
};

/** Valid terms with one more field. */
function encodeTermsWith(json: string): string {
  return encode(`{"x402Version":2,"accepts":[{"more":${json},${JSON.stringify(TERMS).slice(1)}]}`);
}

/** Valid terms, and what is in place of the extension by which a payment is named. */
function encodeIdentifier(json: string): string {
  const accepts = JSON.stringify([TERMS]);
  return encode(`{"x402Version":2,"accepts":${accepts},"extensions":{"payment-identifier":${json}}}`);
}

const TERMS_CORPUS: Readonly<Record<string, RequestListener>> = {
  "another payee": changed({ payTo: OTHER }),
  "another token": changed({ asset: OTHER }),
  "another network": changed({ network: "eip155:1" }),
  "an unknown network": changed({ network: "solana:mainnet" }),
  "a network with leading zeros": changed({ network: "eip155:031337" }),
  "a price above the limit": changed({ amount: "50001" }),
  "a price beyond 256 bits": changed({ amount: "9".repeat(90) }),
  "a price of nothing": changed({ amount: "0" }),
  "a negative price": changed({ amount: "-10000" }),
  "a price in hexadecimal": changed({ amount: "0x2710" }),
  "a price with a fraction": changed({ amount: "10000.5" }),
  "a price with an exponent": changed({ amount: "1e4" }),
  "a price as a number": changed({ amount: 10_000 }),
  "a price in a list": changed({ amount: ["10000"] }),
  "no price": changed({ amount: undefined }),
  "another scheme": changed({ scheme: "upto" }),
  "a Permit2 approval": changed({ extra: { ...TERMS.extra, assetTransferMethod: "permit2" } }),
  "an expired window": changed({ maxTimeoutSeconds: 0 }),
  "a window in the past": changed({ maxTimeoutSeconds: -60 }),
  "a window of a year": changed({ maxTimeoutSeconds: 31_536_000 }),
  "a window of fractions": changed({ maxTimeoutSeconds: 0.5 }),
  "a window as text": changed({ maxTimeoutSeconds: "60" }),
  "no domain": changed({ extra: undefined }),
  "an endless name": changed({ extra: { name: "x".repeat(5_000), version: "2" } }),
  "a payee that is not an address": changed({ payTo: "0x1234" }),
  "a payee with a suffix": changed({ payTo: `${TERMS.payTo}00` }),
  "inherited fields": (_, response) =>
    response
      .writeHead(402, {
        "payment-required": encode(`{"x402Version":2,"accepts":[{"__proto__":${JSON.stringify(TERMS)}}]}`),
      })
      .end(),
  "no ways to pay": offers([]),
  "ways to pay that are not a list": offers({ 0: TERMS, length: 1 }),
  "a thousand ways to pay": offers(Array.from({ length: 1_000 }, () => null)),
  "version 1": header(encode({ x402Version: 1, accepts: [TERMS] })),
  "no header": (_, response) =>
    response.writeHead(402).end(JSON.stringify({ x402Version: 2, accepts: [TERMS] })),
  "an empty header": header(""),
  "no base64": header("{}"),
  "base64 of no JSON": header(encode("<html>")),
  "base64 of a list": header(encode([TERMS])),
  "base64 of null": header(encode("null")),
  "base64 of bytes that are not text": header(Buffer.from([0xff, 0xfe, 0x7b]).toString("base64")),
  "deeply nested JSON": header(encode("[".repeat(5_000))),
  // Can be read, but not written again: the signature would be made and never sent.
  "terms that nest too deeply": header(encodeTermsWith(`${"[".repeat(5_500)}${"]".repeat(5_500)}`)),
  "terms that are too long to be sent back": header(encodeTermsWith(JSON.stringify("x".repeat(11_000)))),
  // A character is up to three bytes of the header.
  "terms in characters that are too long to be sent back": header(
    encodeTermsWith(JSON.stringify("漢".repeat(3_700))),
  ),
  "an identifier that is too long to be sent back": header(
    encodeIdentifier(`{"info":{},"schema":"${"x".repeat(11_000)}"}`),
  ),
  "an identifier in characters that are too long": header(
    encodeIdentifier(`{"info":{},"schema":"${"漢".repeat(3_700)}"}`),
  ),
  "an identifier that nests too deeply": header(
    encodeIdentifier(`{"info":${"[".repeat(5_500)}${"]".repeat(5_500)}}`),
  ),
};

const RESPONSE_CORPUS: Readonly<Record<string, RequestListener>> = {
  "a redirect to another origin": (_, response) =>
    response.writeHead(302, { location: "https://evil.example/" }).end(),
  "a redirect that keeps the method": (_, response) =>
    response.writeHead(307, { location: "//evil.example" }).end(),
  "a permanent redirect": (_, response) => response.writeHead(308, { location: "/portfolio" }).end(),
  "a redirect without a target": (_, response) => response.writeHead(303).end(),
  "a huge body": (_, response) => response.writeHead(402).end("x".repeat(2_000_000)),
  "an endless body": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write("x".repeat(10_000)), 1);
    response.on("close", () => clearInterval(timer));
  },
  "a body that is not JSON": (_, response) => response.end("<html>"),
  "an error page": (_, response) => response.writeHead(500).end("<html>"),
  "a broken connection": (request) => request.socket.destroy(),
};

const SLOW_CORPUS: Readonly<Record<string, RequestListener>> = {
  "a body that never ends and grows slowly": (_, response) => {
    response.writeHead(402);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  },
  "headers that never come": () => undefined,
};

describe("a hostile server", () => {
  let service: ScriptedService;
  beforeAll(async () => {
    service = await startScriptedService();
  });
  afterAll(() => service?.stop());

  async function attempt(listener: RequestListener, timeoutMs = 20_000) {
    service.onUnpaid = listener;
    const payer = createCountingPayer();
    const limits = { timeoutMs, responseBytesMax: 100_000, attemptsMax: 2 };
    const sextant = createSextant({ portfolio: service.url, payer, guard: GUARD, ...limits });
    const error = await sextant.getPortfolio({ address: ADDRESS }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return { error, signed: payer.signed, payments: await sextant.payments.list() };
  }

  it("pays honest terms, so that the corpus fails for its own reasons", async () => {
    const { error, signed } = await attempt((_, response) => requirePayment(response));
    expect([error, signed]).toEqual([null, 1]);
  });

  it.each(Object.entries(TERMS_CORPUS))("signs nothing for terms with %s", async (_name, listener) => {
    const before = service.received.length;
    const { error, signed, payments } = await attempt(listener);
    expect(error).toMatchObject({ name: "SextantError", charged: "no", retry: "never" });
    expect((error as Error).message).toMatch(/not signed|nothing was signed/i);
    expect([signed, payments, service.received.length - before]).toEqual([0, [], 0]);
  });

  it.each(Object.entries(RESPONSE_CORPUS))(
    "signs nothing after a response with %s",
    async (_name, listener) => {
      const before = service.received.length;
      const { error, signed, payments } = await attempt(listener);
      expect(error).toMatchObject({ name: "SextantError", charged: "no" });
      expect([signed, payments, service.received.length - before]).toEqual([0, [], 0]);
    },
  );

  it.each(Object.entries(SLOW_CORPUS))(
    "gives up in time on %s, and signs nothing",
    async (_name, listener) => {
      const { error, signed, payments } = await attempt(listener, 300);
      expect(error).toMatchObject({ code: "UNREACHABLE", charged: "no" });
      expect([signed, payments]).toEqual([0, []]);
    },
  );

  it("signs nothing for another origin than the pinned one, or without encryption", async () => {
    service.onUnpaid = (_, response) => requirePayment(response);
    const payer = createCountingPayer();
    const request = { address: ADDRESS };
    const elsewhere = { ...GUARD, origin: "https://portfolio.example" };
    const pinned = createSextant({ portfolio: service.url, payer, guard: elsewhere });
    await expect(pinned.getPortfolio(request)).rejects.toThrow("only sent to https://portfolio.example");
    const responding = (() => fetch(service.url)) as unknown as typeof fetch;
    const plain = createSextant({
      portfolio: "http://portfolio.example",
      payer,
      guard: GUARD,
      fetch: responding,
    });
    await expect(plain.getPortfolio(request)).rejects.toThrow("only sent over https");
    expect(payer.signed).toBe(0);
  });

  it("signs nothing after a redirect that the caller's own fetch has followed", async () => {
    const other = await startScriptedService();
    service.onUnpaid = (request, response) =>
      response.writeHead(302, { location: `${other.url}${request.url}` }).end();
    const payer = createCountingPayer();
    const following: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "follow" });
    const sextant = createSextant({ portfolio: service.url, payer, guard: GUARD, fetch: following });
    await expect(sextant.getPortfolio({ address: ADDRESS })).rejects.toMatchObject({ code: "REDIRECTED" });
    expect([payer.signed, other.received.length]).toEqual([0, 0]);
    await other.stop();
  });

  it("rejects a server that changes the payee after the first payment", async () => {
    const payer = createCountingPayer();
    const guard = { ...GUARD, payees: "first" } as const;
    const sextant = createSextant({ portfolio: service.url, payer, guard, journal: createMemoryJournal() });
    service.onUnpaid = (_, response) => requirePayment(response);
    await sextant.getPortfolio({ address: ADDRESS });
    service.onUnpaid = changed({ payTo: OTHER });
    await expect(sextant.getPortfolio({ address: ADDRESS })).rejects.toThrow(`the payee ${OTHER} is new`);
    expect(payer.signed).toBe(1);
  });

  it("pays on the allowed one of several ways to pay", async () => {
    const { error } = await attempt(offers([null, { ...TERMS, payTo: OTHER }, { ...TERMS, amount: "9000" }]));
    expect(error).toBeNull();
    const sent = JSON.parse(Buffer.from(service.received.at(-1) ?? "", "base64").toString());
    expect(sent.payload.authorization).toMatchObject({ to: TERMS.payTo, value: "9000" });
  });
});
