// The paid tool: terms without a payment, a snapshot with one, and nothing twice.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFaultyProxy } from "../client/faulty-proxy.ts";
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

  it("learns which values a call has without arguments, and how to get the rest", async () => {
    const [tool] = await client.tools();
    expect(tool?.inputSchema.properties).toMatchObject({
      spam: { default: "exclude" },
      detail: { default: "tokens" },
    });
    const { content } = await client.call("describe_tool", { name: "wallet_snapshot" });
    expect(content[0]?.text).toContain('the signed payment in _meta["x402/payment"]');
    expect(content[0]?.text).toContain("spam: include | exclude, default exclude. ");
    expect(content[0]?.text).toContain("partial: reject | allow, default reject. ");
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
    expect(paid.structuredContent).toMatchObject({
      data: { address: payer.address.toLowerCase() },
      block: expect.stringMatching(/^base:[1-9]\d*$/),
    });
    expect((await pay()).structuredContent).toEqual(paid.structuredContent);
    expect(before - (await balanceOf(payer.address))).toBe(10_000n);
  });

  it("does not charge the same call again when the response to its payment was lost", async () => {
    const proxy = await startFaultyProxy(service.url, () => true);
    const through = await connect(`${proxy.url}/mcp`);
    const payer = await stage.paid.payer();
    const args = { address: payer.address, chains: "base" };
    const { structuredContent: terms } = await through.call("wallet_snapshot", args);
    const payment = await signRequirements(terms, payer, stage.paid.asset);
    const before = await balanceOf(payer.address);
    const pay = () => through.call("wallet_snapshot", args, { "x402/payment": payment });
    proxy.plan = () => "lose-response";
    await expect(pay()).rejects.toThrow();
    expect(before - (await balanceOf(payer.address))).toBe(10_000n);
    proxy.plan = () => "none";
    expect(await pay()).toMatchObject({
      structuredContent: { data: { address: payer.address.toLowerCase() } },
      _meta: { "x402/payment-response": { success: true } },
    });
    expect(before - (await balanceOf(payer.address))).toBe(10_000n);
    await through.close();
    await proxy.stop();
  });

  it("gets no terms for an address with a wrong checksum, and learns how to go on", async () => {
    const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    const rejected = await client.call("wallet_snapshot", { address, chains: "base" });
    expect(rejected).toMatchObject({
      isError: true,
      structuredContent: { code: "INPUT_INVALID", status: 400 },
    });
    expect(rejected.content[0]?.text).toMatch(/has a wrong checksum \(EIP-55\).* in lower case\.$/);
    const accepted = await client.call("wallet_snapshot", { address: address.toLowerCase(), chains: "base" });
    expect(accepted.structuredContent).toMatchObject({ x402Version: 2 });
  });

  it("learns what is wrong with its call before it pays", async () => {
    const result = await client.call("wallet_snapshot", { address: "0x12" }).catch((error: unknown) => error);
    expect(JSON.stringify(result instanceof Error ? result.message : result)).toMatch(/address/i);
  });
});

describe("a client that understands terms as a result of their own", () => {
  const EXTENSION = "org.x402/payment";
  const args = { address: `0x${"77".repeat(20)}`, chains: "base" };

  /**
   * Connects by the new protocol and keeps what the server sent last: the library has no way to pass on a result type
   * it does not know.
   */
  async function connect(extensions: Record<string, Record<string, never>>) {
    const connectModern = TOOL_CLIENTS[1]?.[1];
    if (connectModern === undefined) throw new Error("there is no client of the new protocol");
    const sent: { result?: Record<string, unknown> }[] = [];
    const client = await connectModern(`${service.url}/mcp`, {
      extensions,
      fetch: async (...given) => {
        const response = await fetch(...given);
        sent.push((await response.clone().json()) as (typeof sent)[number]);
        return response;
      },
    });
    return { client, last: () => sent.at(-1)?.result };
  }

  it("gets terms as their own result, pays, and gets the snapshot and its receipt", async () => {
    const { client, last } = await connect({ [EXTENSION]: {} });
    await expect(client.call("wallet_snapshot", args)).rejects.toThrow("payment_required");
    expect(last()).toMatchObject({ resultType: "payment_required", paymentRequired: { x402Version: 2 } });
    const payer = await stage.paid.payer();
    const before = await stage.paid.balance(payer.address);
    const payment = await signRequirements(last()?.paymentRequired, payer, stage.paid.asset);
    const pay = () => client.call("wallet_snapshot", args, { "x402/payment": payment });
    const paid = await pay();
    expect(last()).toMatchObject({ resultType: "complete" });
    expect(paid._meta).toMatchObject({ "x402/payment-response": { success: true } });
    expect((await pay()).structuredContent).toEqual(paid.structuredContent);
    expect(before - (await stage.paid.balance(payer.address))).toBe(10_000n);
    await client.close();
  });

  it("gets the terms again for a payment that is not valid", async () => {
    const { client, last } = await connect({ [EXTENSION]: {} });
    await expect(client.call("wallet_snapshot", args)).rejects.toThrow("payment_required");
    const poor = await stage.paid.payer(0n);
    const payment = await signRequirements(last()?.paymentRequired, poor, stage.paid.asset);
    const call = client.call("wallet_snapshot", args, { "x402/payment": payment });
    await expect(call).rejects.toThrow("payment_required");
    expect(last()).toMatchObject({ paymentRequired: { error: expect.stringMatching(/\S/) } });
    await client.close();
  });

  it("returns the terms as a tool result to clients without the extension", async () => {
    const { client, last } = await connect({ "org.example/other": {} });
    expect(await client.call("wallet_snapshot", args)).toMatchObject({ isError: true });
    expect(last()).toMatchObject({ resultType: "complete", structuredContent: { x402Version: 2 } });
    await client.close();
  });

  it("announces before a call that the server returns terms as their own result", async () => {
    const message = (version: string) => ({
      ...{ jsonrpc: "2.0", id: 1, method: "server/discover" },
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    const response = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "server/discover",
      },
      body: JSON.stringify(message("2026-07-28")),
    });
    expect(await response.json()).toMatchObject({
      result: { capabilities: { extensions: { [EXTENSION]: {} } } },
    });
  });
});
