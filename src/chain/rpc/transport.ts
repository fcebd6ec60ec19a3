// JSON-RPC over HTTP: requests out, results and failures back.
import {
  HttpClientError,
  type HttpClientRequest,
  type HttpFailure,
  type HttpJsonResponse,
  sendJsonRequest,
} from "../../lib/http-client.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { classifyRpcError, readHexData } from "./classify-error.ts";
import { RpcError, type RpcFailureKind } from "./errors.ts";

export type JsonRpcRequest = {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
};

// One counter for the whole process: a response to another request never matches by chance.
let lastId = 0;

export function createJsonRpcRequest(method: string, params: readonly unknown[]): JsonRpcRequest {
  lastId = lastId >= Number.MAX_SAFE_INTEGER ? 1 : lastId + 1;
  return { jsonrpc: "2.0", id: lastId, method, params };
}

const KIND_OF_HTTP_FAILURE = {
  timeout: "timeout",
  connection: "transient",
  "response-too-large": "response-too-large",
} as const satisfies Record<HttpFailure, RpcFailureKind>;

/** `method` names the call in a failure: a method, or the batch it is part of. */
export async function sendRpcRequest(
  method: string,
  body: JsonRpcRequest | readonly JsonRpcRequest[],
  request: Omit<HttpClientRequest, "body">,
): Promise<HttpJsonResponse> {
  try {
    return await sendJsonRequest({ ...request, body: JSON.stringify(body) });
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error;
    const kind = error.isUnreachable ? "unreachable" : KIND_OF_HTTP_FAILURE[error.reason];
    throw new RpcError(kind, `${error.message}.`, {
      host: request.endpoint.host,
      method,
      httpStatus: error.status,
      cause: error.cause,
    });
  }
}

/** The result in one response; throws the failure that it reports. */
export function readRpcResult(
  payload: unknown,
  request: JsonRpcRequest,
  response: HttpJsonResponse,
  endpoint: RemoteEndpoint,
): unknown {
  const record = asObject(payload);
  if (record?.error !== undefined && record.error !== null) {
    throw nodeFailure(record.error, request.method, response, endpoint);
  }
  if (!isOk(response)) throw statusFailure(request.method, response, endpoint);
  const at = { host: endpoint.host, method: request.method, httpStatus: response.status };
  if (!record) {
    const reason = response.payload === undefined ? describeText(response) : "not a JSON-RPC response";
    throw new RpcError("malformed", `${reason}.`, at);
  }
  if (!isSameId(record.id, request.id)) {
    throw new RpcError("malformed", "the response belongs to another request.", at);
  }
  if (record.result === undefined) throw new RpcError("malformed", "the response has no result.", at);
  return record.result;
}

/** The members of a batch response in the order of the requests; undefined for one that is absent or present twice. */
export function matchBatchResponses(
  members: readonly unknown[],
  requests: readonly JsonRpcRequest[],
): readonly unknown[] {
  const byId = new Map<unknown, unknown>();
  for (const member of members) {
    const id = asObject(member)?.id;
    const key = typeof id === "string" ? Number(id) : id;
    // Two responses to one request: neither can be trusted.
    byId.set(key, byId.has(key) ? undefined : member);
  }
  return requests.map(({ id }) => byId.get(id));
}

/** The failure of a batch as a whole: an HTTP status, or one error in place of the list. */
export function readBatchError(
  method: string,
  response: HttpJsonResponse,
  endpoint: RemoteEndpoint,
): RpcError {
  const error = asObject(response.payload)?.error;
  if (error !== undefined && error !== null) return nodeFailure(error, method, response, endpoint);
  if (!isOk(response)) return statusFailure(method, response, endpoint);
  const reason = response.payload === undefined ? describeText(response) : "the batch response is not a list";
  return new RpcError("malformed", `${reason}.`, {
    host: endpoint.host,
    method,
    httpStatus: response.status,
  });
}

function nodeFailure(
  error: unknown,
  method: string,
  { status, retryAfterMs }: HttpJsonResponse,
  endpoint: RemoteEndpoint,
): RpcError {
  const record = asObject(error);
  // A few gateways send the bare text in place of the error object.
  const message =
    typeof error === "string" ? error : typeof record?.message === "string" ? record.message : "";
  const code = typeof record?.code === "number" ? record.code : null;
  const found = classifyRpcError({ method, status, code, message, data: record?.data });
  const shown = endpoint.redact(message).trim();
  return new RpcError(
    found.kind,
    `${shown || "an error without text"}${code === null ? "" : ` (code ${code})`}.`,
    {
      host: endpoint.host,
      method,
      httpStatus: status,
      nodeError: record && { code, message: shown, data: readHexData(record.data) },
      revertData: found.revertData,
      range: found.range,
      retryAfterMs: retryAfterMs ?? found.retryAfterMs,
    },
  );
}

function statusFailure(method: string, response: HttpJsonResponse, endpoint: RemoteEndpoint): RpcError {
  const { status } = response;
  const record = asObject(response.payload);
  const text = typeof record?.message === "string" ? endpoint.redact(record.message) : response.text;
  const found = classifyRpcError({ method, status, code: null, message: text, data: null });
  // A page is classified by its status alone: gateways put "not found" and "try again" on every one of them.
  const isPage = looksLikePage(text);
  const kind = isPage
    ? classifyRpcError({ method, status, code: null, message: "", data: null }).kind
    : found.kind;
  const shown = text === "" || isPage ? "" : `: ${text}`;
  return new RpcError(kind, `HTTP status ${status}${shown}.`, {
    host: endpoint.host,
    method,
    httpStatus: status,
    range: found.range,
    retryAfterMs: response.retryAfterMs ?? found.retryAfterMs,
  });
}

function isOk({ status }: HttpJsonResponse): boolean {
  return status >= 200 && status <= 299;
}

function describeText({ text }: HttpJsonResponse): string {
  return looksLikePage(text) ? "the response is a web page" : "the response is truncated or not JSON";
}

function looksLikePage(text: string): boolean {
  return text.trimStart().startsWith("<");
}

function isSameId(id: unknown, sent: number): boolean {
  return id === sent || id === String(sent);
}

function asObject(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}
