// An MCP server over tools that are routes: one per request or connection, for clients of the 2025 and the 2026 protocol.
import {
  type CallToolResult,
  type McpRequestContext,
  McpServer,
  type McpServerFactory,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isJsonObject } from "../lib/json.ts";
import type { ServiceRequest, Tool, ToolArguments } from "./tool.ts";
import {
  buildErrorResult,
  buildResult,
  countFitting,
  cutText,
  PAYMENT_META,
  parseJson,
  type ServiceResponse,
  shorten,
} from "./tool-result.ts";

export type McpServerOptions = {
  readonly name: string;
  readonly version: string;
  /** How to work with the tools, for the model. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly resultBytesMax?: number;
  /** How requests are sent for one server, which serves one HTTP request or one connection. */
  readonly createSender: (context: McpRequestContext) => SendRequest;
};

/** Sends a request to the service, with a payment where the caller gave one. */
export type SendRequest = (request: ServiceRequest, payment: object | null) => Promise<ServiceResponse>;

// A few thousand tokens: what a model can read without losing its own thread.
const RESULT_BYTES_MAX = 16 * 1024;
// The text of a document is encoded as JSON, which escapes quotes and line breaks.
const TEXT_SHARE = 0.75;

export function createServerFactory(options: McpServerOptions): McpServerFactory {
  const { name, version, instructions, tools, resultBytesMax = RESULT_BYTES_MAX } = options;
  return (request) => {
    const { era } = request;
    const calls = { send: options.createSender(request), resultBytesMax };
    const server = new McpServer({ name, version }, { instructions, capabilities: { tools: {} } });
    for (const tool of tools) {
      const { price } = tool;
      server.registerTool(
        tool.name,
        {
          title: tool.title,
          description: tool.description,
          inputSchema: tool.input,
          // Clients of the old protocol check even the terms of a payment against it, and fail.
          ...(era === "modern" && tool.output !== null && !price ? { outputSchema: tool.output } : {}),
          annotations: {
            readOnlyHint: tool.isReadOnly && !price,
            idempotentHint: true,
            destructiveHint: false,
            openWorldHint: false,
          },
          ...(price ? { _meta: { "x402/price": price.terms } } : {}),
        },
        (args: ToolArguments, context: ServerContext) => callTool(calls, tool, args, context),
      );
    }
    return server;
  };
}

async function callTool(
  { send, resultBytesMax }: { readonly send: SendRequest; readonly resultBytesMax: number },
  tool: Tool,
  args: ToolArguments,
  context: ServerContext,
): Promise<CallToolResult> {
  const payment = readPayment(context);
  const { cursor, ...others } = args;
  const request = tool.toRequest(tool.isText ? others : args);
  const response = await send(request, payment);
  const failure = buildErrorResult(response);
  if (failure !== null) return failure;
  if (tool.isText) {
    const position = typeof cursor === "string" && /^\d{1,9}$/.test(cursor) ? cursor : null;
    return buildResult(cutText(response.body, position, Math.floor(resultBytesMax * TEXT_SHARE)), response);
  }
  const body = parseJson(response.body);
  const fitting = countFitting(body, resultBytesMax);
  if (fitting === null) return buildResult(shorten(body, resultBytesMax, false), response);
  // Asked again with a smaller page, so that its cursor continues exactly after it.
  const shorter = await send(tool.toRequest({ ...args, limit: fitting }), payment);
  return (
    buildErrorResult(shorter) ?? buildResult(shorten(parseJson(shorter.body), resultBytesMax, true), shorter)
  );
}

function readPayment({ mcpReq }: ServerContext): object | null {
  const payment = (mcpReq._meta as Readonly<Record<string, unknown>> | undefined)?.[PAYMENT_META];
  return isJsonObject(payment) ? payment : null;
}
