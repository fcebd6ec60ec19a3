// The list of tools, their details, errors and prompts: what a model pays for, and learns, before its first call.
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { encodeFunctionData, erc20Abi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToolServerFactory } from "../../src/cli/commands/mcp.ts";
import { createClientCalls } from "../../src/cli/tool-calls.ts";
import type { ServiceRequest } from "../../src/mcp/tool.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { TOOL_CLIENTS, type ToolClient } from "./tool-clients.ts";

const LIST_TOKENS_MAX = 3_500;

const account = `0x${"ab".repeat(20)}`;
const urls = { api: "http://api.invalid", portfolio: "http://portfolio.invalid" };
const payer = `0x${"cd".repeat(20)}` as const;
const guard = { perPayment: "0.05" } as Parameters<typeof createToolServerFactory>[0]["guard"];

describe.each(TOOL_CLIENTS)("a client of the %s protocol", (_year, connect) => {
  let client: ToolClient;
  let server: ReturnType<typeof serveStdio>;
  const sent: ServiceRequest[] = [];
  beforeAll(async () => {
    const [connection, transport] = InMemoryTransport.createLinkedPair();
    const calls = createClientCalls({ urls, payer, guard }, async (request) => {
      sent.push(request);
      return { status: 200, headers: {}, body: "{}" };
    });
    const factory = createToolServerFactory({ urls, guard, isPayer: true }, calls);
    server = serveStdio(factory, { transport });
    client = await connect({ connection });
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  it("reads the whole list of tools for less than 3,500 tokens", async () => {
    const tools = await client.tools();
    expect(tools).toHaveLength(25);
    expect(estimateTokens(JSON.stringify(tools))).toBeLessThan(LIST_TOKENS_MAX);
    expect(estimateTokens(client.instructions ?? "")).toBeLessThan(300);
  });

  it("gets the details of each tool on demand, once, with every argument of the list described", async () => {
    for (const { name, inputSchema } of (await client.tools()).slice(0, -1)) {
      const { structuredContent, content } = await client.call("describe_tool", { name });
      const text = content[0]?.text ?? "";
      expect(structuredContent).toBeUndefined();
      expect(text.length, name).toBeLessThan(name.startsWith("wallet") ? 9_500 : 3_500);
      for (const argument of Object.keys(inputSchema.properties ?? {})) {
        if (argument !== "kind") expect(text, name).toMatch(new RegExp(`^${argument}: .+\\. .{5}`, "m"));
      }
    }
    const { content } = await client.call("describe_tool", { name: "find_intents" });
    const lines = content[0]?.text.split("\n") ?? [];
    expect(content[0]?.text.length).toBeLessThan(1_900);
    expect(lines[0]).toContain("An intent whose deadline has passed counts as expired");
    expect(lines).toContain(
      "status: open | filled | cancelled | expired. Filter by state; case-insensitive.",
    );
    expect(lines).toContain("limit: integer, default 20. Records per page, at most 100.");
    expect(lines.at(-1)).toMatch(/^data: \{ intents: \{ intent_id: integer text, .*pagination: \{/);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["find_intents", { status: "done" }, "status must be one of open, filled, cancelled, expired."],
    ["get_reputation", { kind: "agent", id: 1 }, "kind must be one of merchant, solver, attestor."],
    ["get_reputation", { id: 1 }, "kind must be one of merchant, solver, attestor."],
    ["find_agents", { revoked: "no" }, "revoked must be true or false."],
    ["get_intent", { intent: 1 }, 'The tool takes only id, block, at, min_block; not "intent".'],
    ["get_intent", { id: 2 ** 60 }, "id is too large for a number: write it as text."],
    ["get_intent", { id: ["1"] }, "id must be text or a number."],
    ["get_intent", { id: "" }, "id is required: Intent id."],
    ["list_deployments", { chain: "base" }, 'The tool takes no arguments; not "chain".'],
    ["get_activity", { kind: "totals", token: account }, "The kind totals takes only kind, interval, "],
    ["preflight", { account }, "target is required: Target of the transaction."],
    ["wallet_snapshot", { address: account, detail: "all" }, "detail must be one of full, tokens, summary."],
    [
      "wallet_snapshot",
      { address: account, chains: "solana" },
      "chains must be a comma-separated list of base,",
    ],
    [
      "wallet_snapshot",
      { address: "me" },
      "address must be an address, 0x followed by 40 hex digits, or a name",
    ],
    ["describe_tool", { name: "snapshot" }, "There is no tool of that name: did you mean wallet_snapshot?"],
    ["describe_tool", { name: "prices" }, "use one of find_agents, get_agent, "],
    ["describe_tool", { tool: "find_intents" }, 'The tool takes only name; not "tool".'],
    ["describe_tool", {}, "name is required: The tool to describe, one of find_agents, get_agent, "],
    ["get_agent", { id: 1, agentId: 1 }, 'The tool takes only agentId, block, at, min_block; not "id".'],
    ["get_agent", { agent: 1 }, 'The tool takes only agentId, block, at, min_block; not "agent".'],
    ["get_agent", { id: "one" }, "agentId must be "],
  ])("learns from %s with %j what is allowed, before a request is sent", async (name, args, problem) => {
    sent.length = 0;
    const result = await client.call(name, args);
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: "INPUT_INVALID", status: 400 },
    });
    expect(result.content[0]?.text).toContain(problem);
    expect(result.structuredContent.charged).toBe(name.startsWith("wallet") ? "no" : undefined);
    expect(sent).toEqual([]);
  });

  it.each([
    ["find_intent", "did you mean find_intents?"],
    ["list_intents", "did you mean find_intents?"],
    ["snapshot", "did you mean wallet_snapshot?"],
    ["x".repeat(10_000), "use one of find_agents, get_agent, "],
  ])("learns from a wrong name which tool was meant: %#", async (name, advice) => {
    await expect(client.call(name, {})).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`There is no tool of that name: ${advice}`),
    });
  });

  it("a tool takes null or an empty text for what a client does not need", async () => {
    sent.length = 0;
    const given = { status: null, owner: "", limit: "5", block: 7 };
    expect((await client.call("find_intents", given)).isError ?? false).toBe(false);
    expect(sent.map(({ url }) => url)).toEqual(["/intents?limit=5&block=7"]);
  });

  it("a tool takes the number of an agent as id, as it does for all other records", async () => {
    sent.length = 0;
    for (const given of [{ id: 7 }, { agentId: "7" }, { id: 7, agentId: null }]) {
      expect((await client.call("get_agent", given)).isError ?? false).toBe(false);
    }
    expect(sent.map(({ url }) => url)).toEqual(["/agents/7", "/agents/7", "/agents/7"]);
  });

  it("finds a prompt for each of the three usual jobs", async () => {
    const prompts = await client.prompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      ...["can_account_pay", "what_can_wallet_lose", "what_changed_since"],
    ]);
    const names = (await client.tools()).map(({ name }) => name);
    const given = { account, amount: "5", token: account, recipient: account, address: account, since: "7d" };
    for (const { name } of prompts) {
      const text = await client.prompt(name, given);
      expect(text).toContain(account);
      expect(text).not.toMatch(/[{}]/);
      const named = text.match(/[a-z]+_[a-z_]+|preflight/g) ?? [];
      expect(named.length).toBeGreaterThan(0);
      for (const tool of named) expect(names).toContain(tool);
    }
  });

  it.each<[string, string, Record<string, string>, string]>([
    ["an argument is missing", "what_can_wallet_lose", {}, "needs address (An address, or a name"],
    [
      "several are",
      "can_account_pay",
      { account, amount: "5" },
      "needs token (The contract of the token, or",
    ],
    ["an argument is too long", "what_can_wallet_lose", { address: "a".repeat(301) }, "needs address"],
    ["the name is wrong", "can_acount_pay", {}, "did you mean can_account_pay?"],
    [
      "an amount is not a whole number",
      "can_account_pay",
      { account, amount: "5.0", token: account, recipient: account },
      "amount must be",
    ],
    [
      "a token is its symbol",
      "can_account_pay",
      { account, amount: "5", token: "USDC", recipient: account },
      "token must be an address",
    ],
  ])("learns from a prompt what to change when %s", async (_case, name, args, problem) => {
    await expect(client.prompt(name, args)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(problem),
    });
  });

  it("gets the call that preflight takes, encoded, for a payment in a token and in the coin", async () => {
    const [token, recipient] = [`0x${"cd".repeat(20)}`, `0x${"ef".repeat(20)}`] as const;
    const given = { account, amount: "5000000", token, recipient };
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [recipient, 5_000_000n],
    });
    expect(await client.prompt("can_account_pay", given)).toContain(
      `account ${account}, target ${token}, value 0 and data ${data};`,
    );
    expect(await client.prompt("can_account_pay", { ...given, token: "native" })).toContain(
      `account ${account}, target ${recipient}, value 5000000 and data 0x;`,
    );
  });
});
