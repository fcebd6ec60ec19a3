// An MCP server over tools that are routes: one per request or connection, for clients of the 2025 and the 2026 protocol.
import {
  type CallToolResult,
  type McpRequestContext,
  McpServer,
  type McpServerFactory,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type ListedTool, listSchema } from "./listed-tool.ts";
import { type Prompt, registerPrompt } from "./prompt.ts";
import type { ToolArguments } from "./tool-declaration.ts";

export type McpServerOptions = {
  readonly name: string;
  readonly version: string;
  /** How to work with the tools, for the model. */
  readonly instructions: string;
  readonly tools: readonly ListedTool[];
  readonly prompts: readonly Prompt[];
  /** How tools are called on one server, which serves one HTTP request or one connection. */
  readonly createCalls: (context: McpRequestContext) => ToolCalls;
};

/** Apart from the list, which an agent reads first: whatever calls need may load with the first of them. */
export type ToolCalls = {
  call(name: string, args: ToolArguments, context: ServerContext): Promise<CallToolResult>;
  /** The details of a tool. */
  describe(name: unknown): Promise<CallToolResult>;
};

/** The extension by which client and server agree on the result type for terms; see https://x402.org. */
export const PAYMENT_EXTENSION = "org.x402/payment";

export function createServerFactory(options: McpServerOptions): McpServerFactory {
  const { name, version, instructions, tools, prompts } = options;
  return (request) => {
    const { era } = request;
    const calls = options.createCalls(request);
    const sellsByTerms = era === "modern" && tools.some(({ price }) => price?.isPaidByCaller);
    const extensions = sellsByTerms ? { extensions: { [PAYMENT_EXTENSION]: {} } } : {};
    const server = new McpServer(
      { name, version },
      { instructions, capabilities: { tools: {}, prompts: {}, ...extensions } },
    );
    for (const tool of tools) {
      server.registerTool(tool.name, listTool(tool), (args: ToolArguments, context: ServerContext) =>
        calls.call(tool.name, args, context),
      );
    }
    server.registerTool("describe_tool", DESCRIBE_TOOL, (args) => calls.describe(args.name));
    for (const prompt of prompts) registerPrompt(server, prompt);
    return server;
  };
}

/** Hints that are the default of the protocol, or follow from another one, are left out: the list is read by models. */
function listTool({ title, description, listedSchema, isReadOnly, price }: ListedTool) {
  return {
    title,
    description,
    inputSchema: listSchema(listedSchema),
    annotations:
      isReadOnly && !price ? { readOnlyHint: true } : { destructiveHint: false, idempotentHint: true },
    ...(price ? { _meta: { "x402/price": price.terms } } : {}),
  };
}

const DESCRIBE_TOOL = {
  title: "Describe a tool",
  description: "Details of a tool: what it returns, its arguments in full, and the schema of its result.",
  inputSchema: listSchema({ type: "object", properties: { name: { type: "string" } }, required: ["name"] }),
  annotations: { readOnlyHint: true },
};
