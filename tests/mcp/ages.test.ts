// Ages such as 7d in calls of `sextant mcp`: they lead to later blocks at every request, and a purchase stays one.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openClient } from "../../src/cli/client-settings.ts";
import { createToolSender } from "../../src/cli/tool-sender.ts";
import { encodePayment, type ServiceResponse } from "../../src/mcp/tool-result.ts";
import { type ClientStage, openClientStage, walletAt } from "../client/client-stage.ts";
import { startFaultyProxy } from "../client/faulty-proxy.ts";
import { fetchWithPayment, signRequirements } from "../support/payments/paid-client.ts";
import { createTestFolder } from "../support/test-folder.ts";

let shop: ClientStage;
beforeAll(async () => {
  shop = await openClientStage();
});
afterAll(() => shop?.close());

type Parameters = Readonly<Record<string, string>>;

/** The sender of a server with these settings, as one process has it. */
function openSender(settings: Parameters) {
  const client = openClient(settings, { needs: [] });
  onTestFinished(client.close);
  const sender = createToolSender(client);
  const send = (given: Parameters, payment: object | null = null): Promise<ServiceResponse> => {
    const { address = "", at = "" } = given;
    // In the order of the route, as tools build it.
    const parameters = { address, chains: "base", at };
    const url = `/portfolio?${new URLSearchParams(parameters)}`;
    const request = { method: "GET", url, body: null, operation: "getPortfolio", parameters } as const;
    return sender(request, { payment, signal: new AbortController().signal });
  };
  return { send };
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
