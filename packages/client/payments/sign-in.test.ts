// Signing in never signs what a service wants beyond its own host, and never pays while a response may be there.
import type { RequestListener } from "node:http";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSextant } from "../create-sextant.ts";
import { createMemoryJournal } from "../journal/journal.ts";
import {
  encode,
  GUARD,
  type ScriptedService,
  startScriptedService,
  TERMS,
} from "../testing/scripted-service.ts";
import type { Payer } from "./authorization.ts";

const REQUEST = { address: `0x${"77".repeat(20)}` };
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const MINUTE_MS = 60_000;
const timeIn = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();

let service: ScriptedService;
let texts: string[];
let paid: number;
let payer: Payer;

beforeEach(async () => {
  service = await startScriptedService();
  service.onPaid = (_, response) => response.end('{"bought":"now"}');
  texts = [];
  paid = 0;
  payer = {
    address: account.address,
    signTypedData: (data) => {
      paid += 1;
      return account.signTypedData(data);
    },
    signMessage: ({ message }) => {
      texts.push(message);
      return account.signMessage({ message });
    },
  };
});
afterEach(() => service.stop());

type Info = Readonly<Record<string, unknown>>;

/** Challenges each request without a payment, and responds to sign-ins as the test says. */
function challengeWith(change: Info, onSignIn: RequestListener, chains: unknown = undefined): void {
  let challenges = 0;
  service.onUnpaid = (request, response) => {
    if (request.headers["sign-in-with-x"] !== undefined) return onSignIn(request, response);
    challenges += 1;
    requireSignIn(response, { nonce: String(challenges).padStart(32, "0"), ...change }, chains);
  };
}

function requireSignIn(
  response: Parameters<RequestListener>[1],
  change: Info,
  chains: unknown = [{ chainId: TERMS.network, type: "eip191" }],
): void {
  const info = {
    domain: new URL(service.url).host,
    uri: `${service.url}/portfolio`,
    version: "1",
    nonce: "0".repeat(32),
    issuedAt: timeIn(0),
    ...change,
  };
  const extensions = { "sign-in-with-x": { info, supportedChains: chains, schema: {} } };
  const header = encode({
    x402Version: 2,
    error: "Pay.",
    resource: { url: "/" },
    accepts: [TERMS],
    extensions,
  });
  response.writeHead(402, { "payment-required": header, "x-error-code": "PAYMENT_REQUIRED" }).end("{}");
}

const stored: RequestListener = (_, response) => response.end('{"bought":"before"}');
const nothing: RequestListener = (_, response) => requireSignIn(response, { nonce: "f".repeat(32) });

const open = (changes: { readonly payer?: Payer; readonly attemptsMax?: number } = {}) =>
  createSextant({
    ...{ portfolio: service.url, payer, guard: GUARD, journal: createMemoryJournal(), attemptsMax: 1 },
    ...changes,
  });
const getAgain = (sextant = open()) => sextant.getPortfolio(REQUEST, { again: true });

describe("a call with again", () => {
  it("signs who signs in where and when, and pays nothing for a stored response", async () => {
    const issuedAt = timeIn(0);
    challengeWith({ issuedAt }, stored);
    const sextant = open();
    const { data, receipt } = await getAgain(sextant);
    expect([data, receipt, paid]).toEqual([{ bought: "before" }, null, 0]);
    expect(texts).toEqual([
      [
        `${new URL(service.url).host} wants you to sign in with your Ethereum account:`,
        `${account.address}\n\n`,
        `URI: ${service.url}/portfolio`,
        "Version: 1",
        "Chain ID: 31337",
        `Nonce: ${"1".padStart(32, "0")}`,
        `Issued At: ${issuedAt}`,
      ].join("\n"),
    ]);
    expect((await sextant.payments.budget()).spent.total).toBe("0");
    expect(await sextant.payments.list()).toEqual([]);
  });

  it("pays once the service has twice had nothing", async () => {
    challengeWith({}, nothing);
    await expect(getAgain()).resolves.toMatchObject({ data: { bought: "now" } });
    expect([texts.length, paid]).toEqual([2, 1]);
  });

  it("pays a service that knows no sign-in on the network of the guard", async () => {
    challengeWith({}, stored, [{ chainId: "eip155:1", type: "eip191" }]);
    await expect(getAgain()).resolves.toMatchObject({ data: { bought: "now" } });
    expect([texts.length, paid]).toEqual([0, 1]);
  });

  it.each([-58, 58])(
    "takes a challenge that was issued %i minutes from now, as clocks differ",
    async (minutes) => {
      challengeWith({ issuedAt: timeIn(minutes) }, stored);
      await expect(getAgain()).resolves.toMatchObject({ data: { bought: "before" } });
    },
  );

  it.each([
    ["another path", "/admin"],
    ["a path below that of the request", "/portfolio/"],
    ["a path above that of the request", "/"],
    ["the query", "/portfolio?address=0x1"],
    ["a fragment", "/portfolio#x"],
    ["a path that leads to that of the request", "/x/../portfolio"],
  ])("signs nothing for a challenge with %s of the same host", async (_, path) => {
    challengeWith({ uri: service.url + path }, stored);
    await expect(getAgain()).rejects.toMatchObject({ code: "TERMS_REJECTED", charged: "no" });
    expect([texts, paid]).toEqual([[], 0]);
  });

  it.each<[string, () => string]>([
    ["an hour and two minutes ago", () => timeIn(-62)],
    ["in an hour and two minutes", () => timeIn(62)],
    ["in the year 9999", () => "9999-12-31T23:59:59Z"],
    ["on a day that does not exist", () => "2026-13-32T00:00:00Z"],
  ])("signs nothing for a challenge that was issued %s", async (_, readTime) => {
    challengeWith({ issuedAt: readTime() }, stored);
    await expect(getAgain()).rejects.toMatchObject({
      code: "TERMS_REJECTED",
      charged: "no",
      message: expect.stringContaining("clock"),
    });
    expect([texts, paid]).toEqual([[], 0]);
  });

  it.each<[string, Info]>([
    ["another domain", { domain: "bank.example" }],
    ["a domain with a user", { domain: "127.0.0.1@bank.example" }],
    ["another origin", { uri: "https://bank.example/" }],
    ["an origin that only begins alike", { uri: "http://127.0.0.1.bank.example/" }],
    ["a statement", { statement: "I agree to everything." }],
    ["a list of resources", { resources: ["https://bank.example"] }],
    ["a time of its own", { notBefore: "2026-11-19T12:00:00Z" }],
    ["a field in its nonce", { nonce: "12345678\nRequest ID: 1" }],
    ["a field in its time", { issuedAt: "2026-11-19T12:00:00Z\nResources:\n- https://bank.example" }],
    ["another version", { version: "2" }],
  ])("signs nothing for a challenge with %s", async (_, change) => {
    challengeWith(change, stored);
    await expect(getAgain()).rejects.toMatchObject({ code: "TERMS_REJECTED", charged: "no" });
    expect([texts, paid]).toEqual([[], 0]);
  });

  it("pays nothing while the service cannot say whether there is a response", async () => {
    challengeWith({}, (_, response) => {
      response
        .writeHead(503, { "x-error-code": "PAYMENT_PENDING", "retry-after": "0" })
        .end('{"error":"Wait."}');
    });
    await expect(getAgain(open({ attemptsMax: 3 }))).rejects.toMatchObject({
      code: "PAYMENT_PENDING",
      charged: "no",
      retry: "same-signature",
    });
    expect([new Set(texts).size, paid]).toEqual([3, 0]);
  });

  it("pays nothing if the service has not looked for a response", async () => {
    challengeWith({}, (_, response) => requireSignIn(response.setHeader("retry-after", "1"), {}));
    await expect(getAgain()).rejects.toMatchObject({
      code: "RATE_LIMITED",
      charged: "no",
      retryAfterMs: 1_000,
    });
    expect(paid).toBe(0);
  });

  it("signs in with a new nonce if the response is lost", async () => {
    let sent = 0;
    challengeWith({}, (request, response) => {
      sent += 1;
      if (sent === 1) request.socket.destroy();
      else stored(request, response);
    });
    await expect(getAgain(open({ attemptsMax: 2 }))).resolves.toMatchObject({ data: { bought: "before" } });
    expect([new Set(texts).size, paid]).toEqual([2, 0]);
  });

  it("signs in once more if a proxy has used the nonce up", async () => {
    let sent = 0;
    challengeWith({}, (request, response) => {
      sent += 1;
      (sent === 1 ? nothing : stored)(request, response);
    });
    await expect(getAgain()).resolves.toMatchObject({ data: { bought: "before" } });
    expect(paid).toBe(0);
  });

  it("needs an account of a key", async () => {
    challengeWith({}, stored);
    const { signMessage: _, ...mute } = payer;
    await expect(getAgain(open({ payer: mute }))).rejects.toMatchObject({ code: "NOT_CONFIGURED" });
    const contract = { ...payer, signMessage: async () => `0x${"00".repeat(200)}` as const };
    await expect(getAgain(open({ payer: contract }))).rejects.toMatchObject({ code: "NOT_CONFIGURED" });
    expect(paid).toBe(0);
  });

  it("signs nothing for another service than those of the guard", async () => {
    challengeWith({}, stored);
    const guard = { ...GUARD, origin: "https://other.example" };
    const sextant = createSextant({ portfolio: service.url, payer, guard, attemptsMax: 1 });
    await expect(getAgain(sextant)).rejects.toMatchObject({ code: "TERMS_REJECTED" });
    expect([texts, paid]).toEqual([[], 0]);
  });
});
