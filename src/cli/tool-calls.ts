// Calls of the tools of `sextant mcp`: what the list of tools does without, loaded with the first call.
import { describeApiTools } from "../api/tools.ts";
import type { Environment } from "../config/read-config.ts";
import type { ToolCalls } from "../mcp/server.ts";
import type { Tool } from "../mcp/tool.ts";
import { createToolCalls, type SendRequest } from "../mcp/tool-calls.ts";
import { describePaidTools } from "../portfolio/http/tools.ts";
import type { ClientConfig } from "./client-config.ts";
import { type OpenClient, openConfiguredClient } from "./client-settings.ts";
import { describeToolPrice } from "./tool-price.ts";
import { createToolSender } from "./tool-sender.ts";

export type OpenToolCalls = ToolCalls & { close(): Promise<void> };

export function openToolCalls(config: ClientConfig, environment: Environment): OpenToolCalls {
  const client = openConfiguredClient(config, environment, { needs: [] });
  return { ...createClientCalls(client, createToolSender(client)), close: client.close };
}

export function createClientCalls(
  { urls, payer, guard }: Pick<OpenClient, "urls" | "payer" | "guard">,
  send: SendRequest,
): ToolCalls {
  const price = describeToolPrice(payer !== null, guard);
  const details = payer === null ? price.details : `${payer} pays. ${price.details}`;
  const tools: readonly Tool[] = [
    ...(urls.api === null ? [] : describeApiTools()),
    ...(urls.portfolio === null ? [] : describePaidTools({ ...price, details })),
  ];
  return createToolCalls(tools, send);
}
