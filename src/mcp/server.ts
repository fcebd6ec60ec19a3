// An MCP server over tools that are routes: one per request or connection, for clients of the 2025 and the 2026 protocol.
import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  type McpRequestContext,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { nearestName } from "../lib/nearest-name.ts";
import type { ListedTool } from "./listed-tool.ts";
import { fillPrompt, listPrompt, type Prompt } from "./prompt.ts";
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
  describe(args: ToolArguments): Promise<CallToolResult>;
};

/** The extension by which client and server agree on the result type for terms; see https://x402.org. */
export const PAYMENT_EXTENSION = "org.x402/payment";

export function createServerFactory(options: McpServerOptions): McpServerFactory {
  const { name, version, instructions, tools, prompts } = options;
  const listed = { tools: [...tools.map(listTool), DESCRIBE_TOOL] };
  const names = listed.tools.map((tool) => tool.name);
  return (request) => {
    const { era } = request;
    const calls = options.createCalls(request);
    const sellsByTerms = era === "modern" && tools.some(({ price }) => price?.isPaidByCaller);
    const extensions = sellsByTerms ? { extensions: { [PAYMENT_EXTENSION]: {} } } : {};
    const server = new Server(
      { name, version },
      { instructions, capabilities: { tools: {}, prompts: {}, ...extensions } },
    );
    server.setRequestHandler("tools/list", () => listed);
    server.setRequestHandler("tools/call", ({ params }, context) => {
      if (!names.includes(params.name)) throw createNameFault("tool", params.name, names);
      return call(calls, params, context).catch(toErrorResult);
    });
    server.setRequestHandler("prompts/list", () => ({ prompts: prompts.map(listPrompt) }));
    server.setRequestHandler("prompts/get", ({ params }) => {
      const prompt = prompts.find((each) => each.name === params.name);
      if (prompt) return fillPrompt(prompt, params.arguments ?? {});
      const known = prompts.map((each) => each.name);
      throw createNameFault("prompt", params.name, known);
    });
    return server;
  };
}

async function call(
  calls: ToolCalls,
  { name, arguments: args = {} }: CallToolRequest["params"],
  context: ServerContext,
): Promise<CallToolResult> {
  return name === DESCRIBE_TOOL.name ? calls.describe(args) : calls.call(name, args, context);
}

/** A model reads results; an error of the protocol may end its turn. */
function toErrorResult(error: unknown): CallToolResult {
  const text = error instanceof Error ? error.message : String(error);
  return { isError: true, content: [{ type: "text", text }] };
}

function createNameFault(what: string, given: string, names: readonly string[]): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no ${what} of that name: ${suggestNames(given, names)}`,
  );
}

/** The end of a sentence about a wrong name: those that were probably meant, or all. */
export function suggestNames(given: string, names: readonly string[]): string {
  // Models remember the noun, and guess the verb.
  const noun = given.split(/[_-]/).at(-1) || given;
  const nearest = nearestName(given.slice(0, NAME_LENGTH_MAX), names);
  const meant = nearest === null ? names.filter((name) => name.includes(noun)) : [nearest];
  return meant.length === 0 ? `use one of ${names.join(", ")}.` : `did you mean ${meant.join(" or ")}?`;
}

// Comparing names takes as many steps as both are long; ours are shorter.
const NAME_LENGTH_MAX = 64;

type ProtocolTool = ListToolsResult["tools"][number];

/** Hints that are the default of the protocol, or follow from another one, are left out: the list is read by models. */
function listTool({ name, title, description, listedSchema, isReadOnly, price }: ListedTool): ProtocolTool {
  return {
    name,
    title,
    description,
    inputSchema: listedSchema as ProtocolTool["inputSchema"],
    annotations:
      isReadOnly && !price ? { readOnlyHint: true } : { destructiveHint: false, idempotentHint: true },
    ...(price ? { _meta: { "x402/price": price.terms } } : {}),
  };
}

const DESCRIBE_TOOL: ProtocolTool = {
  name: "describe_tool",
  title: "Describe a tool",
  description: "Details of a tool: its arguments in full, and the type of data in its result.",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  annotations: { readOnlyHint: true },
};
