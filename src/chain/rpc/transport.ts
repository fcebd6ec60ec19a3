// One HTTP exchange with a node: a JSON body out, a JSON body back, within a time and a size.

import { setMaxListeners } from "node:events";
import { sendHttpRequest } from "../../lib/http-client.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { type RemoteEndpoint, redactError } from "../../lib/remote-endpoint.ts";
import { parseRetryAfter } from "../../lib/retry.ts";
import { classifyRpcError } from "./classify-error.ts";
import { RpcError } from "./errors.ts";

// JSON-RPC envelopes: what is sent, and which answer belongs to which question.

export type JsonRpcRequest = {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
};

// One counter for the whole process: an answer meant for another request can never fit by chance.
let lastId = 0;

export function createJsonRpcRequest(method: string, params: readonly unknown[]): JsonRpcRequest {
  lastId = lastId >= Number.MAX_SAFE_INTEGER ? 1 : lastId + 1;
  return { jsonrpc: "2.0", id: lastId, method, params };
}

/** The result of one answer, or the failure that it tells of. */
export function readRpcResult(
  answer: unknown,
  sent: JsonRpcRequest,
  reply: RpcHttpResponse,
  endpoint: RemoteEndpoint,
): unknown {
  const record = asObject(answer);
  if (record?.error !== undefined && record.error !== null)
    throw refusal(record.error, sent.method, reply, endpoint);
  if (reply.status < 200 || reply.status > 299) throw statusFailure(sent.method, reply, endpoint);
  const at = { host: endpoint.host, method: sent.method };
  if (!record) {
    const what = reply.payload === undefined ? describeText(reply) : "the answer is no JSON-RPC answer";
    throw new RpcError("malformed", `${what}.`, at);
  }
  if (!sameId(record.id, sent.id))
    throw new RpcError("malformed", "the answer belongs to another request.", at);
  if (record.result === undefined) throw new RpcError("malformed", "the answer has no result.", at);
  return record.result;
}

/** The members of a batch answer by position of their question; what is absent or double stays undefined. */
export function matchBatchResponses(
  answers: readonly unknown[],
  sent: readonly JsonRpcRequest[],
): readonly unknown[] {
  const byId = new Map<unknown, unknown>();
  for (const answer of answers) {
    const id = asObject(answer)?.id;
    const key = typeof id === "string" ? Number(id) : id;
    // Two answers to one question: none of them can be trusted.
    byId.set(key, byId.has(key) ? undefined : answer);
  }
  return sent.map(({ id }) => byId.get(id));
}

/** The failure of an answer as a whole: an HTTP status, or one error in place of a batch. */
export function readBatchError(method: string, reply: RpcHttpResponse, endpoint: RemoteEndpoint): RpcError {
  const error = asObject(reply.payload)?.error;
  if (error !== undefined && error !== null) return refusal(error, method, reply, endpoint);
  if (reply.status < 200 || reply.status > 299) return statusFailure(method, reply, endpoint);
  const what = reply.payload === undefined ? describeText(reply) : "a batch was not answered by a list";
  return new RpcError("malformed", `${what}.`, { host: endpoint.host, method });
}

function refusal(error: unknown, method: string, reply: RpcHttpResponse, endpoint: RemoteEndpoint): RpcError {
  const record = asObject(error);
  // A few gateways put the bare text where the error object belongs.
  const message =
    typeof error === "string" ? error : typeof record?.message === "string" ? record.message : "";
  const code = typeof record?.code === "number" ? record.code : null;
  const found = classifyRpcError({ method, status: reply.status, code, message, data: record?.data });
  const words = endpoint.redact(message).trim() || "an error without words";
  return new RpcError(found.kind, `${words}${code === null ? "" : ` (code ${code})`}.`, {
    host: endpoint.host,
    method,
    rpcCode: code,
    revertData: found.revertData,
    range: found.range,
    retryAfterMs: reply.retryAfterMs ?? found.retryAfterMs,
  });
}

function statusFailure(method: string, reply: RpcHttpResponse, endpoint: RemoteEndpoint): RpcError {
  const record = asObject(reply.payload);
  const text = typeof record?.message === "string" ? endpoint.redact(record.message) : reply.text;
  const found = classifyRpcError({ method, status: reply.status, code: null, message: text, data: null });
  // A page is never read for words: gateways put "not found" and "try again" on every one of them.
  const page = looksLikePage(text);
  const kind = page
    ? classifyRpcError({ method, status: reply.status, code: null, message: "", data: null }).kind
    : found.kind;
  const words = text === "" || page ? "" : `: ${text}`;
  return new RpcError(kind, `HTTP status ${reply.status}${words}.`, {
    host: endpoint.host,
    method,
    range: found.range,
    retryAfterMs: reply.retryAfterMs ?? found.retryAfterMs,
  });
}

function describeText(reply: RpcHttpResponse): string {
  return looksLikePage(reply.text) ? "the answer is a web page" : "the answer is cut short or is not JSON";
}

function looksLikePage(text: string): boolean {
  return text.trimStart().startsWith("<");
}

function sameId(id: unknown, sent: number): boolean {
  return id === sent || id === String(sent);
}

function asObject(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

export type RpcExchange = {
  readonly endpoint: RemoteEndpoint;
  /** How the call is named in a failure: a method, or the batch it is part of. */
  readonly method: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly signals: readonly AbortSignal[];
};

export type RpcHttpResponse = {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The parsed body; undefined when it is not JSON. */
  readonly payload: unknown;
  /** The beginning of a body that is not JSON, fit to be shown. */
  readonly text: string;
};

/** Throws an RpcError when no whole answer arrives, and the signal's own reason when the caller gave up. */
export async function sendRpcRequest(options: RpcExchange): Promise<RpcHttpResponse> {
  const { endpoint, method } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), options.timeoutMs);
  // Forwarded by hand and taken off again: AbortSignal.any would tie every request to a long-lived signal.
  const forward = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const signal of options.signals) {
    if (signal.aborted) controller.abort(signal.reason);
    // As many requests listen as are in flight at all providers together; each stops listening when it ends.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", forward, { once: true });
  }
  try {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
    };
    if (endpoint.authorization) headers.authorization = endpoint.authorization.reveal();
    const { status, retryAfter, text } = await sendHttpRequest({
      url: endpoint.url.reveal(),
      headers,
      body: options.body,
      signal: controller.signal,
      responseBytesMax: options.responseBytesMax,
    });
    if (text === null) {
      const words = `the answer is longer than ${options.responseBytesMax} bytes.`;
      throw new RpcError("response-too-large", words, { host: endpoint.host, method });
    }
    const payload = parseJson(text);
    return {
      status,
      retryAfterMs: parseRetryAfter(retryAfter),
      payload,
      text: payload === undefined ? endpoint.redact(text.slice(0, 2_000)) : "",
    };
  } catch (error) {
    for (const signal of options.signals) if (signal.aborted) throw signal.reason;
    if (error instanceof RpcError) throw error;
    if (controller.signal.aborted) {
      throw new RpcError("timeout", `no answer within ${options.timeoutMs} ms.`, {
        host: endpoint.host,
        method,
      });
    }
    const cause = redactError(error, endpoint);
    throw new RpcError("transient", `${reasonOf(cause)}.`, { host: endpoint.host, method, cause });
  } finally {
    clearTimeout(timer);
    for (const signal of options.signals) signal.removeEventListener("abort", forward);
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Told apart by the caller, who knows the status: an HTML page of a gateway, or an answer cut short.
    return undefined;
  }
}

function reasonOf(error: Error): string {
  let deepest = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest.message || "the connection failed";
}
