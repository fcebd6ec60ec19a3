// Ages such as 7d in calls of `sextant mcp`: they lead to later blocks at every request, and a purchase stays one.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openClient } from "../../src/cli/client-settings.ts";
import { createToolSender } from "../../src/cli/tool-sender.ts";
import { encodePayment, type ServiceResponse } from "../../src/mcp/tool-result.ts";
import { type ClientStage, openClientStage, walletAt } from "../client/client-stage.ts";
import { startFaultyProxy } from "../client/faulty-proxy.ts";
import { fetchWithPayment, signRequirements, TEST_NETWORK } from "../support/payments/paid-client.ts";
import { createTestFolder } from "../support/test-folder.ts";

let shop: ClientStage;
beforeAll(async () => {
  shop = await openClientStage();
});
afterAll(() => shop?.close());

type Parameters = Readonly<Record<string, string>>;
const DAY_MS = 86_400_000;

/** The sender of a server with these settings, as one process has it. */
function openSender(settings: Parameters, laterMs = 0) {
  const client = openClient(settings, { needs: [] });
  onTestFinished(client.close);
  const sender = createToolSender({ ...client, now: () => Date.now() + laterMs });
  const send = (given: Parameters, payment: object | null = null): Promise<ServiceResponse> => {
    const { address = "", at = "" } = given;
    // In the order of the route, as tools build it.
    const parameters = { address, chains: "base", at };
    const url = `/portfolio?${new URLSearchParams(parameters)}`;
    const request = { method: "GET", url, body: null, operation: "getPortfolio", parameters } as const;
    return sender(request, { payment, signal: new AbortController().signal });
  };
  return { send, payments: () => client.sextant.payments.list() };
}

describe("a caller that pays for an age itself", () => {
  type Terms = { readonly resource: { readonly url: string } };

  /** A server without a payer behind a proxy, and a payment for the terms of its first result. */
  async function signFor(given: Parameters, isFaulty: (url: string) => boolean = () => false) {
    const folder = await createTestFolder();
    const proxy = await startFaultyProxy(shop.url, ({ url = "", headers }) => {
      return headers["payment-signature"] !== undefined && isFaulty(url);
    });
    onTestFinished(proxy.stop);
    const settings = { HOME: folder, SEXTANT_DATA: folder, SEXTANT_PORTFOLIO_URL: proxy.url };
    const { send } = openSender(settings);
    const { account } = await shop.payer();
    const { status, headers } = await send(given);
    expect(status).toBe(402);
    const terms = Buffer.from(headers["payment-required"] ?? "", "base64").toString();
    const { resource } = JSON.parse(terms) as Terms;
    const payment = await signRequirements(JSON.parse(terms), account, shop.paid.asset);
    const paid = async () => (await shop.payments(account.address)).chain.length;
    return { proxy, pay: () => send(given, payment), payment, resource, paid };
  }

  it.each([
    ["its wallet by address", { address: walletAt(3_001) }],
    ["its wallet by name", { address: "alice.eth" }],
  ])("repeats a payment whose response was lost, for the blocks of its terms: %s", async (_, wallet) => {
    shop.names.set("alice.eth", walletAt(3_002));
    const given = { ...wallet, at: "7d" };
    const { proxy, pay, payment, resource, paid } = await signFor(given, (url) => url.includes("block="));
    proxy.plan = () => "lose-response";
    expect(await pay()).toMatchObject({ status: 503, payment: { charged: "unknown" } });
    expect(await paid()).toBe(1);
    proxy.plan = () => "none";
    const repeated = await pay();
    expect(repeated).toMatchObject({ status: 200 });
    expect((await pay()).body).toBe(repeated.body);
    const { pathname, search } = new URL(resource.url);
    const byBlocks = await fetchWithPayment(shop.url + pathname + search, encodePayment(payment));
    expect(await byBlocks.text()).toBe(repeated.body);
    expect(await paid()).toBe(1);
  });

  it("learns that a payment may be charged when the service does not say its blocks", async () => {
    const { proxy, pay, paid } = await signFor({ address: walletAt(3_003), at: "7d" }, () => true);
    expect(await pay()).toMatchObject({ status: 200 });
    proxy.plan = () => "lose-response";
    const lost = await pay();
    expect(lost).toMatchObject({ status: 503, payment: { charged: "unknown" } });
    expect(lost.payment?.advice).toContain("the same payment is sent");
    expect(await paid()).toBe(1);
  });

  it("gets the conflict of the service when the name has moved since, and nothing is charged", async () => {
    shop.names.set("moving.eth", walletAt(3_004));
    const { pay, paid } = await signFor({ address: "moving.eth", at: "7d" });
    shop.names.set("moving.eth", walletAt(3_005));
    const conflict = await pay();
    expect(conflict).toMatchObject({ status: 409, headers: { "x-error-code": "PAYMENT_CONFLICT" } });
    expect(conflict.body).toContain(`signed for ${walletAt(3_004)}, and moving.eth now leads to`);
    expect([conflict.payment, await paid()]).toEqual([undefined, 0]);
  });
});

describe("a server that pays for an age", () => {
  /** Processes with one payer and one journal, some of them later. */
  async function openServers() {
    const folder = await createTestFolder();
    const { account, privateKey } = await shop.payer();
    const settings = {
      ...{ HOME: folder, SEXTANT_DATA: folder, SEXTANT_PORTFOLIO_URL: shop.url },
      ...{ SEXTANT_PAYER_KEY: privateKey, SEXTANT_JOURNAL: join(folder, "payments.jsonl") },
      ...{ SEXTANT_GUARD_NETWORK: TEST_NETWORK, SEXTANT_GUARD_ASSET: shop.paid.asset },
      SEXTANT_GUARD_PAYEES: shop.paid.payTo,
    };
    const paid = async () => (await shop.payments(account.address)).chain.length;
    return { open: (laterMs = 0) => openSender(settings, laterMs), paid };
  }

  const address = walletAt(3_010);
  const named = { address: "bob.eth", at: "7d" };
  it.each([
    ["the same call", { address, at: "7d" }, { address, at: "7d" }],
    ["the same call by name", named, named],
    ["a call by name and the same by address", named, { address, at: "7d" }],
    ["a date and the same second", { address, at: "2026-01-02" }, { address, at: "2026-01-02T00:00:00Z" }],
  ])("signs once for two calls at the same time: %s", async (_, one, other) => {
    shop.names.set("bob.eth", address);
    const { open, paid } = await openServers();
    const [first, second] = [open(), open()];
    const results = await Promise.all([first.send(one), first.send(one), second.send(other)]);
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(results.map(({ body }) => body)).size).toBe(1);
    expect([(await first.payments()).length, await paid()]).toEqual([1, 1]);
    // In either spelling, and minutes later.
    for (const given of [one, other]) {
      expect(await open(300_000).send(given)).toMatchObject({ status: 200, body: results[0]?.body });
    }
    expect(await paid()).toBe(1);
  });

  it("finds a purchase by address again when the next call names the wallet", async () => {
    const { open, paid } = await openServers();
    shop.names.set("carol.eth", walletAt(3_011));
    const { send } = open();
    const { body } = await send({ address: walletAt(3_011), at: "7d" });
    expect(await send({ address: "carol.eth", at: "7d" })).toMatchObject({ status: 200, body });
    expect(await paid()).toBe(1);
  });

  it("buys the same age again after ten minutes, and other ages at once", async () => {
    const { open, paid } = await openServers();
    const given = { address: walletAt(3_012), at: "7d" };
    for (const [laterMs, at, count] of [
      [0, "7d", 1],
      [0, "8d", 2],
      [610_000, "7d", 3],
      [DAY_MS, "7d", 4],
    ] as const) {
      expect(await open(laterMs).send({ ...given, at })).toMatchObject({ status: 200 });
      expect(await paid()).toBe(count);
    }
  });

  it("signs once for two calls at the same time, by name and by address, after an older purchase", async () => {
    const { open, paid } = await openServers();
    shop.names.set("dave.eth", walletAt(3_013));
    const given = { address: "dave.eth", at: "7d" };
    expect(await open().send(given)).toMatchObject({ status: 200 });
    const { send } = open(610_000);
    const results = await Promise.all([send(given), send({ ...given, address: walletAt(3_013) })]);
    expect(results.map(({ status }) => status)).toEqual([200, 200]);
    expect(await paid()).toBe(2);
  });
});
