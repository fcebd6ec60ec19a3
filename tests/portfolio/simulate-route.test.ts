// POST /simulate as it is sold: a payment is for these transactions and no others, and nothing is charged without a result.
import type { PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import { encodeX402Header } from "../../src/payments/paywall/offer.ts";
import type { Simulation, SimulationRequest } from "../../src/schema/portfolio/simulation.ts";
import { decodeBase64Header, fetchWithPayment, signRequirements } from "../support/payments/paid-client.ts";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

const WALLET: Hex = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955";
const FRIEND: Hex = `0x${"a1".repeat(20)}`;

let stage: ServiceStage;
let service: PortfolioService;
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
});
afterAll(() => stage.close());

const requestOf = (value: string): SimulationRequest => ({
  ...{ wallet: WALLET, chain: "base" },
  transactions: [{ to: FRIEND, value }],
});

const post = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

describe("POST /simulate", () => {
  it("names its price, and sells the simulation once for one payment", async () => {
    const url = `${service.url}/simulate`;
    const unpaid = await fetch(url, post(requestOf("1000")));
    const terms = decodeBase64Header<PaymentRequired>(unpaid, "payment-required");
    expect([unpaid.status, terms.accepts[0]?.amount]).toEqual([402, "3000"]);
    expect(terms.resource.url).toMatch(/\/simulate\?chain=base&transactions=[0-9a-f]{64}&wallet=0x/);
    const { account, fetch: pay } = await openPayingClient(stage);
    const paid = await pay(url, post(requestOf("1000")));
    expect(paid.status).toBe(200);
    const simulation = (await paid.json()) as Simulation;
    expect(simulation).toMatchObject({
      ...{ wallet: WALLET, chain: "base", verdict: "allow", success: true },
      balanceChanges: [
        { account: WALLET, contract: null, rawChange: "-1000" },
        { account: FRIEND, contract: null, rawChange: "1000" },
      ],
    });
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it("names its price also to a crawler, which sends nothing", async () => {
    for (const init of [{ method: "POST" }, { method: "POST", body: "" }]) {
      const response = await fetch(`${service.url}/simulate`, init);
      const terms = decodeBase64Header<PaymentRequired>(response, "payment-required");
      expect([response.status, terms.accepts[0]?.amount]).toEqual([402, "3000"]);
    }
  });

  it("needs at most four requests to a node, prices included, and is a tool", async () => {
    const free = await stage.serve({ bypass: true });
    const url = `${free.url}/simulate`;
    await fetch(url, post(requestOf("1")));
    const before = stage.base.node.requests.length;
    const simulation = (await (await fetch(url, post(requestOf("2")))).json()) as Simulation;
    expect(simulation.balanceChanges[0]?.priceSource).toBe("chainlink");
    expect(stage.base.node.requests.length - before).toBeLessThanOrEqual(4);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const tools = await fetch(`${free.url}/mcp`, { method: "POST", headers, body: JSON.stringify(list) });
    expect(await tools.text()).toContain("simulate_transaction");
    const args = { name: "simulate_transaction", arguments: requestOf("3") };
    const body = JSON.stringify({ ...list, method: "tools/call", params: args });
    const called = await (await fetch(`${free.url}/mcp`, { method: "POST", headers, body })).text();
    expect(called).toContain('"verdict":"allow"');
  });

  it("rejects a payment that was made for other transactions", async () => {
    const account = await stage.paid.payer();
    const url = `${service.url}/simulate`;
    const unpaid = await fetch(url, post(requestOf("5")));
    const required = decodeBase64Header<PaymentRequired>(unpaid, "payment-required");
    const payment = encodeX402Header(await signRequirements(required, account, stage.paid.asset));
    const pay = (body: unknown) => fetchWithPayment(url, payment, post(body));
    expect((await pay(requestOf("5"))).status).toBe(200);
    const stolen = await pay(requestOf("6"));
    expect([stolen.status, stolen.headers.get("x-error-code")]).toEqual([409, "PAYMENT_CONFLICT"]);
    const again = await pay(requestOf("5"));
    expect([again.status, ((await again.json()) as Simulation).transactions[0]?.rawValue]).toEqual([
      200,
      "5",
    ]);
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it.each([
    ["no transaction", { transactions: [] }],
    ["more than ten transactions", { transactions: Array(11).fill({ to: FRIEND }) }],
    ["half a byte of data", { transactions: [{ to: FRIEND, data: "0x1" }] }],
    ["a value beyond 2^256", { transactions: [{ to: FRIEND, value: "9".repeat(78) }] }],
    ["an unknown field", { transactions: [{ to: FRIEND, gas: "1" }] }],
  ])("rejects %s before it names a price", async (_name, part) => {
    const response = await fetch(`${service.url}/simulate`, post({ ...requestOf("1"), ...part }));
    expect(response.status).toBe(400);
  });
});
