// JSON-RPC 2.0 messages: one text in, one text out, batches in order.
import { JSON_RPC_CODES, JsonRpcError, toJsonRpcErrorBody } from "./json-rpc-error.ts";

/** Resolves with the JSON text of the method's result; throws for an error. */
export type RpcHandler = (method: string, params: readonly unknown[]) => Promise<string>;

/** Clients batch up to a thousand by default; a message of more than twice that would delay all others. */
const BATCH_MAX = 2_000;

type Id = string | number | null;
type Request = { readonly id: Id | undefined; readonly method: string; readonly params: readonly unknown[] };

/** The response to a message; undefined for notifications, which have none. */
export async function handleRpcMessage(text: string, handle: RpcHandler): Promise<string | undefined> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    return encodeRpcError(
      null,
      new JsonRpcError(JSON_RPC_CODES.parse, "The body is not valid JSON", undefined, { cause: error }),
    );
  }
  if (!Array.isArray(message)) return handleOne(message, handle);
  if (message.length === 0 || message.length > BATCH_MAX) {
    return encodeRpcError(
      null,
      new JsonRpcError(JSON_RPC_CODES.invalidRequest, `A batch holds 1 to ${BATCH_MAX} requests`),
    );
  }
  const replies: string[] = [];
  // One after the other, as nodes do: a batch may send a transaction and then read its receipt.
  for (const entry of message) {
    const reply = await handleOne(entry, handle);
    if (reply !== undefined) replies.push(reply);
  }
  return replies.length === 0 ? undefined : `[${replies.join(",")}]`;
}

/** An error response; `id` is null when the request's id could not be read. */
export function encodeRpcError(id: Id, error: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcErrorBody(error) });
}

async function handleOne(message: unknown, handle: RpcHandler): Promise<string | undefined> {
  let id: Id | undefined = null;
  try {
    const request = parseRequest(message);
    id = request.id;
    const result = await handle(request.method, request.params);
    return id === undefined ? undefined : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  } catch (error) {
    return id === undefined ? undefined : encodeRpcError(id, error);
  }
}

function parseRequest(message: unknown): Request {
  if (typeof message !== "object" || message === null || Array.isArray(message)) throw invalid("an object");
  const { jsonrpc, id, method, params } = message as Record<string, unknown>;
  if (jsonrpc !== "2.0") throw invalid('one with "jsonrpc": "2.0"');
  if (!isId(id)) throw invalid("one whose id is a string, a number or null");
  if (typeof method !== "string") throw invalid("one whose method is a string");
  if (params !== undefined && params !== null && !Array.isArray(params))
    throw invalid("one whose params are an array");
  return { id, method, params: params ?? [] };
}

function isId(id: unknown): id is Id | undefined {
  return id === undefined || id === null || typeof id === "string" || typeof id === "number";
}

function invalid(expected: string): JsonRpcError {
  return new JsonRpcError(JSON_RPC_CODES.invalidRequest, `A request is ${expected}`);
}
