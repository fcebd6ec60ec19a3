// `sextant mcp`: the tools of both services over standard input and output, for an agent on this machine.
import type { Readable, Writable } from "node:stream";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { API_INSTRUCTIONS, API_PROMPTS, describeApiTools } from "../../api/tools.ts";
import { readVersion } from "../../config/settings.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { START_LOCAL } from "../../lib/program.ts";
import { waitForAbort } from "../../lib/shutdown.ts";
import { createServerFactory, type McpServerOptions, type SendRequest } from "../../mcp/server.ts";
import type { ToolPrice } from "../../mcp/tool-declaration.ts";
import {
  CALLER_PAYS,
  describePaidTools,
  PORTFOLIO_INSTRUCTIONS,
  PORTFOLIO_PROMPTS,
} from "../../portfolio/http/tools.ts";
import { type OpenClient, openClient } from "../client-settings.ts";
import type { RunCommand } from "../command.ts";
import { createToolSender, PURCHASE_MS } from "../tool-sender.ts";

// Far above any call; without a limit a message without end fills the memory.
const MESSAGE_BYTES_MAX = 1024 * 1024;

export const mcpCommand: RunCommand = async ({ environment, log, stop }) => {
  const client = openClient(environment, { needs: [] });
  try {
    const factory = createToolServerFactory(client, createToolSender(client));
    await serveStreams(factory, { input: process.stdin, output: process.stdout, log, stop });
  } finally {
    await client.close();
  }
  return 0;
};

type Streams = {
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Log;
  readonly stop: AbortSignal;
};

/** Serves one agent, until its input ends or `stop` aborts. */
export async function serveStreams(
  factory: McpServerFactory,
  { input, output, log, stop }: Streams,
): Promise<void> {
  const transport = new WatchedTransport(input, output, { maxBufferSize: MESSAGE_BYTES_MAX });
  const server = serveStdio(factory, {
    transport,
    maxSubscriptions: 0,
    onerror: (err) => log.warn({ component: "cli", event: "mcp_failed", err }, "MCP message failed"),
  });
  await waitForAbort(AbortSignal.any([stop, transport.closed]));
  await server.close();
}

/** Says when it has closed: the agent has gone, or sent a message without end. Open payments stay in the journal. */
class WatchedTransport extends StdioServerTransport {
  readonly #closing = new AbortController();
  readonly closed = this.#closing.signal;

  override async close(): Promise<void> {
    await super.close();
    this.#closing.abort();
  }
}

/** The tools of the services that are configured. */
export function createToolServerFactory(
  { urls, payer, guard }: Pick<OpenClient, "urls" | "payer" | "guard">,
  sendRequest: SendRequest,
): McpServerFactory {
  const services: readonly Pick<McpServerOptions, "tools" | "prompts" | "instructions">[] = [
    ...(urls.api === null
      ? []
      : [{ tools: describeApiTools(), prompts: API_PROMPTS, instructions: API_INSTRUCTIONS }]),
    ...(urls.portfolio === null
      ? []
      : [
          {
            tools: describePaidTools(describePrice(payer, guard)),
            prompts: PORTFOLIO_PROMPTS,
            instructions: PORTFOLIO_INSTRUCTIONS,
          },
        ]),
  ];
  if (services.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      `There is no local run: start one with ${START_LOCAL}, or set SEXTANT_API_URL and SEXTANT_PORTFOLIO_URL.`,
    );
  }
  return createServerFactory({
    name: "sextant",
    version: readVersion(),
    instructions: services.map(({ instructions }) => instructions).join(" "),
    tools: services.flatMap(({ tools }) => tools),
    prompts: services.flatMap(({ prompts }) => prompts),
    createSender: () => sendRequest,
  });
}

/** The price itself is the service's; this process only knows who pays, and how much at most. */
function describePrice(payer: OpenClient["payer"], { perPayment }: OpenClient["guard"]): ToolPrice {
  if (payer === null)
    return {
      sentence: "A call costs money, by x402.",
      details: CALLER_PAYS,
      terms: {},
      isPaidByCaller: true,
    };
  const max = String(perPayment);
  return {
    sentence: `A call costs money, which this server pays with x402: at most $${max}.`,
    details: `It pays within the limits that its user has set. The same call within ${PURCHASE_MS / 60_000} minutes returns the same snapshot and is free.`,
    terms: { priceUsdMax: max, payer },
    isPaidByCaller: false,
  };
}
