// Tasks of agents with real services: each has the fewest calls, results hold the facts to the unit, and tokens are counted.
// api-tools.test.ts and paid-tool.test.ts fail first if a tool itself is broken.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { namedAccounts } from "@sextant/local-chain/accounts";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openClient } from "../../src/cli/client-settings.ts";
import { createToolServerFactory } from "../../src/cli/commands/mcp.ts";
import { createClientCalls } from "../../src/cli/tool-calls.ts";
import { createToolSender } from "../../src/cli/tool-sender.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { openServiceStage, type PortfolioService, type ServiceStage } from "../portfolio/service-stage.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { listIndexTasks, listWalletTasks } from "./evaluation-tasks.ts";
import { TOOL_CLIENTS, type ToolClient } from "./tool-clients.ts";

const DOCUMENT = readFileSync(new URL("evaluation.md", import.meta.url), "utf8");
const ROW = /^\| (.+) \| (`.+`) \| (\d+) \|$/gm;

let api: ReadStage;
let shop: ServiceStage;
let service: PortfolioService;
let agent: ToolClient;
const payerKey = generatePrivateKey();
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [api, shop] = await Promise.all([openReadStage(), openServiceStage()]);
  service = await shop.serve();
  await shop.paid.mint(privateKeyToAccount(payerKey).address, 1_000_000n);
  const folder = mkdtempSync(join(tmpdir(), "sextant-evaluation-"));
  const client = openClient(
    {
      ...{
        HOME: folder,
        SEXTANT_DATA: join(folder, "data"),
        SEXTANT_JOURNAL: join(folder, "payments.jsonl"),
      },
      ...{ SEXTANT_API_URL: api.url, SEXTANT_PORTFOLIO_URL: service.url, SEXTANT_PAYER_KEY: payerKey },
      ...{ SEXTANT_GUARD_NETWORK: TEST_NETWORK, SEXTANT_GUARD_ASSET: shop.paid.asset },
      SEXTANT_GUARD_PAYEES: shop.paid.payTo,
    },
    { needs: [] },
  );
  const calls = createClientCalls(client, createToolSender(client));
  const [connection, transport] = InMemoryTransport.createLinkedPair();
  const server = serveStdio(createToolServerFactory({ ...client, isPayer: true }, calls), { transport });
  const [, connect] = TOOL_CLIENTS[1] ?? [];
  if (connect === undefined) throw new Error("there is a client of the newest protocol");
  agent = await connect({ connection });
  closing.push(agent.close, server.close, client.close, async () => rmSync(folder, { recursive: true }));
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  for (const close of closing) await close();
  await shop?.close();
  await api?.close();
});

it("finds the facts of twenty tasks with the calls of the table, to the unit, for at most its tokens", async () => {
  const wallet = namedAccounts().payer.address.toLowerCase() as Hex;
  const tasks = [...(await listIndexTasks(api)), ...(await listWalletTasks(shop, service, wallet))];
  const documented = new Map(
    [...DOCUMENT.matchAll(ROW)].map(([, ask, calls, tokens = ""]) => [
      ask,
      { calls, tokens: Number(tokens) },
    ]),
  );
  expect([...documented.keys()]).toEqual(tasks.map(({ ask }) => ask));
  for (const { ask, calls, facts, truth } of tasks) {
    let tokens = 0;
    const results: unknown[] = [];
    for (const [tool, args] of calls) {
      const result = await agent.call(tool, args);
      const text = result.content[0]?.text ?? "";
      expect(result.isError ?? false, `${tool}: ${text}`).toBe(false);
      tokens += estimateTokens(JSON.stringify(args)) + estimateTokens(text);
      results.push(result.structuredContent.data);
    }
    expect.soft(facts(...results), ask).toEqual(truth);
    const row = documented.get(ask);
    expect.soft(row?.calls, ask).toBe(calls.map(([tool]) => `\`${tool}\``).join(", "));
    expect.soft(tokens, ask).toBeLessThanOrEqual(row?.tokens ?? 0);
  }
  const paid = tasks.flatMap(({ calls }) => calls).filter(([tool]) => tool.startsWith("wallet_"));
  const { address } = privateKeyToAccount(payerKey);
  expect(await shop.paid.transfersFrom(address)).toHaveLength(paid.length);
}, 120_000);
