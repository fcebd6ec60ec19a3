// The paid tool: terms without a payment, a snapshot with one, and nothing twice.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServiceStage, type PortfolioService, type ServiceStage } from "../portfolio/service-stage.ts";
import { signRequirements } from "../support/payments/paid-client.ts";
import { TOOL_CLIENTS, type ToolClient } from "./tool-clients.ts";

let stage: ServiceStage;
let service: PortfolioService;
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
});
afterAll(() => stage?.close());

describe.each(TOOL_CLIENTS)("a client of the %s protocol", (_year, connect) => {
  let client: ToolClient;
  beforeAll(async () => {
    client = await connect(`${service.url}/mcp`);
  });
  afterAll(() => client?.close());

  const balanceOf = (account: `0x${string}`) => stage.paid.balance(account);

  it("learns the price before it calls", async () => {
    const [tool] = await client.tools();
    expect(tool).toMatchObject({
      name: "wallet_snapshot",
      description: expect.stringContaining("costs $0.01"),
      _meta: { "x402/price": { scheme: "exact", amount: "10000" } },
    });
    expect(tool?.outputSchema).toBeUndefined();
  });

  it("gets the terms, pays, and is not charged again for the same call", async () => {
    const payer = await stage.paid.payer();
    const args = { address: payer.address, chains: "base" };
    const unpaid = await client.call("wallet_snapshot", args);
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } });
    expect(JSON.parse(unpaid.content[0]?.text ?? "")).toEqual(unpaid.structuredContent);

    const payment = await signRequirements(unpaid.structuredContent, payer, stage.paid.asset);
    const before = await balanceOf(payer.address);
    const pay = () => client.call("wallet_snapshot", args, { "x402/payment": payment });
    const paid = await pay();
    expect(paid.isError ?? false).toBe(false);
    expect(paid._meta).toMatchObject({ "x402/payment-response": { success: true } });
    expect(paid.structuredContent).toMatchObject({ data: { address: payer.address.toLowerCase() } });
    // The response was lost: the same call again.
    expect((await pay()).structuredContent).toEqual(paid.structuredContent);
    expect(before - (await balanceOf(payer.address))).toBe(10_000n);
  });

  it("learns what is wrong with its call before it pays", async () => {
    const result = await client.call("wallet_snapshot", { address: "0x12" }).catch((error: unknown) => error);
    expect(JSON.stringify(result instanceof Error ? result.message : result)).toMatch(/address/i);
  });
});
