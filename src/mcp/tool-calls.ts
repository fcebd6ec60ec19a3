// Calls of tools: arguments are checked, a request goes to the route, and its response becomes a short result.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { describeWrongChecksum } from "../lib/checksum.ts";
import { noteInvisible, noteInvisibleWithin } from "../lib/foreign-text.ts";
import { isJsonObject } from "../lib/json.ts";
import { isGiven, quoteName } from "./arguments.ts";
import { PAYMENT_EXTENSION, suggestNames, type ToolCalls } from "./server.ts";
import type { ServiceRequest, Tool } from "./tool.ts";
import type { ToolArguments } from "./tool-declaration.ts";
import {
  buildErrorResult,
  buildResult,
  countFitting,
  cutText,
  noteResult,
  PAYMENT_META,
  type PaymentBinding,
  parseJson,
  type ResultNotes,
  type ServiceResponse,
  shortenToFit,
} from "./tool-result.ts";

export type CallOptions = {
  /** Present if the caller gave one. */
  readonly payment: object | null;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
};

/** Sends a request to the service. */
export type SendRequest = (request: ServiceRequest, options: CallOptions) => Promise<ServiceResponse>;

// A few thousand tokens: what a model can read without losing its own thread.
const RESULT_BYTES_MAX = 16 * 1024;

export function createToolCalls(tools: readonly Tool[], send: SendRequest): ToolCalls {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    call: async (name, args, context) => {
      const tool = byName.get(name);
      if (tool === undefined) throw new TypeError(`The tool ${name} is listed and cannot be called.`);
      return callTool(send, tool, args, context);
    },
    describe: async (args) => describeTool(byName, args),
  };
}

function describeTool(tools: ReadonlyMap<string, Tool>, args: ToolArguments): CallToolResult {
  const { name, ...others } = args;
  const names = [...tools.keys()];
  const [wrong] = Object.keys(others);
  if (wrong !== undefined) return rejectArguments(`The tool takes only name; not "${quoteName(wrong)}".`);
  if (!isGiven(name)) {
    return rejectArguments(`name is required: The tool to describe, one of ${names.join(", ")}.`);
  }
  const tool = tools.get(String(name));
  if (tool === undefined) {
    return rejectArguments(`There is no tool of that name: ${suggestNames(String(name), names)}`);
  }
  return { content: [{ type: "text", text: tool.details }] };
}

function rejectArguments(error: string, payment?: ServiceResponse["payment"]): CallToolResult {
  const headers = { "x-error-code": "INPUT_INVALID" };
  const response = { status: 400, headers, body: JSON.stringify({ error }), ...(payment && { payment }) };
  return buildErrorResult(response, "tool-result") ?? TOO_LARGE;
}

async function callTool(
  send: SendRequest,
  tool: Tool,
  args: ToolArguments,
  context: ServerContext,
): Promise<CallToolResult> {
  const options = { payment: readPayment(context), signal: context.mcpReq.signal };
  const binding = readBinding(context);
  const { cursor, ...others } = args;
  const problem = tool.findProblem(args) ?? (tool.price?.isPaidByCaller ? findMistyped(args) : null);
  if (problem !== null)
    return rejectArguments(problem, tool.price?.isPaidByCaller === false ? UNPAID : undefined);
  const request = tool.toRequest(tool.isText ? others : args);
  const response = await send(request, options);
  const failure = buildErrorResult(response, binding);
  if (failure !== null) return failure;
  const body = tool.isText ? response.body : noteInvisibleWithin(parseJson(response.body));
  const asked = { parameters: request.parameters, foreignText: tool.foreignText };
  const notes = noteResult(response, body, asked);
  // With a comma in place of one of the braces.
  const bytesMax = RESULT_BYTES_MAX - Buffer.byteLength(JSON.stringify(notes));
  if (tool.isText) {
    const position = typeof cursor === "string" && /^\d{1,9}$/.test(cursor) ? cursor : null;
    return buildResult(cutText(noteInvisible(response.body), position, bytesMax), response, notes);
  }
  const fitting = countFitting(body, bytesMax);
  if (fitting === null) return buildShortResult(body, response, { bytesMax, wasCut: false, notes });
  // Asked again with a smaller page, so that its cursor continues exactly after it; the records may have grown since.
  for (const limit of new Set([fitting, 1])) {
    const shorter = await send(tool.toRequest({ ...args, limit }), options);
    const failed = buildErrorResult(shorter, binding);
    if (failed !== null) return failed;
    const page = noteInvisibleWithin(parseJson(shorter.body));
    if (limit === 1 || countFitting(page, bytesMax) === null) {
      return buildShortResult(page, shorter, {
        bytesMax,
        wasCut: true,
        notes: noteResult(shorter, page, asked),
      });
    }
  }
  return TOO_LARGE;
}

const UNPAID = { charged: "no", advice: "Nothing was charged." } as const;

/** Before a caller signs: the service accepts any address, and would be paid for a wallet that was not meant. */
function findMistyped(args: ToolArguments): string | null {
  return Object.values(args).flatMap((value) => describeWrongChecksum(String(value)) ?? [])[0] ?? null;
}

function buildShortResult(
  body: unknown,
  response: ServiceResponse,
  {
    bytesMax,
    wasCut,
    notes,
  }: { readonly bytesMax: number; readonly wasCut: boolean; readonly notes: ResultNotes },
): CallToolResult {
  const shortened = shortenToFit(body, bytesMax, wasCut);
  return shortened === null ? TOO_LARGE : buildResult(shortened, response, notes);
}

const TOO_LARGE: CallToolResult = {
  isError: true,
  content: [{ type: "text", text: "The response is too large for a tool; read it from the API over HTTP." }],
};

function readPayment({ mcpReq }: ServerContext): object | null {
  const payment = (mcpReq._meta as Readonly<Record<string, unknown>> | undefined)?.[PAYMENT_META];
  return isJsonObject(payment) ? payment : null;
}

/** The extension if the client says with its call that it understands it, as the binding of x402 requires. */
function readBinding({ mcpReq }: ServerContext): PaymentBinding {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  const extensions = isJsonObject(capabilities) ? capabilities.extensions : null;
  const isUnderstood = isJsonObject(extensions) && Object.hasOwn(extensions, PAYMENT_EXTENSION);
  return isUnderstood ? "extension" : "tool-result";
}
