// The HTTP client of every outgoing call: bounded in time and size, without redirects, and no secret in its errors.
import { isAscii } from "node:buffer";
import { setMaxListeners } from "node:events";
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { PublicNetwork } from "./public-network.ts";
import { type RemoteEndpoint, redactError } from "./remote-endpoint.ts";
import { parseRetryAfter } from "./retry.ts";

export type HttpClientRequest = {
  readonly endpoint: RemoteEndpoint;
  /** Appended to the endpoint's own path. */
  readonly path?: string;
  /** Sent by POST as JSON; without a body the request is a GET. */
  readonly body?: string;
  /** In addition to those that every request has; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For an address that someone else chose: only over TLS, and only to the public internet. */
  readonly network?: PublicNetwork;
  readonly timeoutMs: number;
  /** Counted after decompression. */
  readonly responseBytesMax: number;
  readonly signals?: readonly AbortSignal[];
  /** For metrics: called once per request, unless the caller aborts it. */
  readonly onExchange?: (exchange: HttpExchange) => void;
};

export type HttpExchange = {
  readonly host: string;
  /** The HTTP status, or why no response arrived. */
  readonly outcome: number | HttpFailure;
  readonly ms: number;
};

type HttpClientResponse = {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly text: string;
};

export type HttpFailure = "timeout" | "connection" | "response-too-large";

/** No complete response. The text and the causes are redacted. */
export class HttpClientError extends Error {
  override readonly name = "HttpClientError";
  readonly reason: HttpFailure;
  /** Known when the response began. */
  readonly status: number | null;
  /** No connection was made: nothing listens at the address, or no such host is known. */
  readonly isUnreachable: boolean;

  constructor(
    reason: HttpFailure,
    message: string,
    detail: { cause?: Error; status?: number | null; isUnreachable?: boolean } = {},
  ) {
    super(message, detail.cause === undefined ? {} : { cause: detail.cause });
    this.reason = reason;
    this.isUnreachable = detail.isUnreachable ?? false;
    this.status = detail.status ?? null;
  }
}

// Servers close idle connections, the first of them after five seconds. A connection that we close first cannot fail
// under a request.
const IDLE_MS_MAX = 4_000;
const KEEP_ALIVE = { keepAlive: true, timeout: IDLE_MS_MAX } as const;
const http = { request: httpRequest, agent: new HttpAgent(KEEP_ALIVE) };
const https = { request: httpsRequest, agent: new HttpsAgent(KEEP_ALIVE) };

/** Codes of errors before a connection stands; EAI_AGAIN, a name server that is late, is not one. */
const UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
]);

// Some content delivery networks reject requests without one.
const USER_AGENT = "sextant";

/**
 * Throws an HttpClientError, or the reason of the caller's signal. A redirect is a response like any other: following it
 * would carry the request, and perhaps a key, to a host that is not configured. Node's own client instead of fetch:
 * a backfill takes a sixth less CPU time.
 */
export async function sendHttpRequest(request: HttpClientRequest): Promise<HttpClientResponse> {
  const startMs = performance.now();
  const report = (outcome: HttpExchange["outcome"]) =>
    request.onExchange?.({ host: request.endpoint.host, outcome, ms: performance.now() - startMs });
  try {
    const response = await exchange(request);
    report(response.status);
    return response;
  } catch (error) {
    if (error instanceof HttpClientError) report(error.reason);
    throw error;
  }
}

async function exchange(request: HttpClientRequest): Promise<HttpClientResponse> {
  const { endpoint, timeoutMs, signals = [] } = request;
  for (const signal of signals) signal.throwIfAborted();
  let isLate = false;
  let status: number | null = null;
  let outgoing: ClientRequest | null = null;
  // Ended by hand: with a signal Node's client watches every stream for its end. With that, events instead of an iterator,
  // and bytes instead of text, a small request takes a sixth less processor time.
  const stop = () => void outgoing?.destroy();
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  for (const signal of signals) {
    // Every request in flight listens until it ends.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", stop, { once: true });
  }
  try {
    outgoing = send(request);
    const response = await awaitResponse(outgoing);
    status = response.statusCode ?? 0;
    return {
      status,
      retryAfterMs: parseRetryAfter(response.headers["retry-after"] ?? null),
      text: await readText(decompress(response), request.responseBytesMax, status),
    };
  } catch (error) {
    for (const signal of signals) if (signal.aborted) throw signal.reason;
    if (error instanceof HttpClientError) throw error;
    if (isLate) {
      throw new HttpClientError("timeout", `no response within ${timeoutMs} ms`, { status });
    }
    const cause = redactError(error, endpoint);
    const isUnreachable = UNREACHABLE_CODES.has((error as NodeJS.ErrnoException).code ?? "");
    throw new HttpClientError("connection", rootMessage(cause), { cause, status, isUnreachable });
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

function send(options: HttpClientRequest): ClientRequest {
  const { endpoint, path, body, network } = options;
  const url = addressOf(endpoint, path);
  const { request, agent } = network ? publicTransport(network, url) : chooseTransport(url);
  const headers: Record<string, string | number> = {
    ...options.headers,
    accept: "application/json",
    "accept-encoding": "gzip",
    "user-agent": USER_AGENT,
  };
  if (endpoint.authorization) headers.authorization = endpoint.authorization.reveal();
  const bytes = body === undefined ? null : encodeText(body);
  if (bytes !== null) {
    headers["content-type"] = "application/json";
    headers["content-length"] = bytes.length;
  }
  const outgoing = request(url, { method: bytes === null ? "GET" : "POST", headers, agent });
  outgoing.end(bytes);
  return outgoing;
}

function awaitResponse(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on("response", resolve);
    // Stays attached: an error after the response has started is reported by its body.
    outgoing.on("error", reject);
    // A server that switches protocols ends the request without an error and without a response.
    outgoing.on("close", () => reject(new Error("the connection was closed without a response")));
  });
}

/** Hex and names of methods are ASCII, which is copied seven times as fast as UTF-8 is encoded. */
function encodeText(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? "latin1" : "utf8");
}

/** Looking for other characters and copying takes four tenths of the time in which UTF-8 is decoded. */
function decodeText(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
}

function chooseTransport(url: string): typeof http | typeof https {
  return url.startsWith("https:") ? https : http;
}

/** With connections of its own: one that another caller opened may lead anywhere. */
function publicTransport({ agent, assertHost }: PublicNetwork, url: string): typeof https {
  if (!url.startsWith("https:")) throw new Error("only https:// is allowed");
  assertHost(new URL(url).hostname);
  return { request: httpsRequest, agent };
}

function addressOf({ url }: RemoteEndpoint, path: string | undefined): string {
  return path === undefined ? url.reveal() : url.reveal().replace(/\/+$/, "") + path;
}

function decompress(response: IncomingMessage): Readable {
  if (response.headers["content-encoding"] !== "gzip") return response;
  // The pipeline destroys both streams when either fails, so the reader gets the error.
  return pipeline(response, createGunzip(), () => undefined);
}

/** More than the few hundred in which a server sends the longest response that is accepted. */
const CHUNKS_MAX = 1_024;

/** Listens to events: an iterator of a stream makes promises for each chunk. */
function readText(body: Readable, bytesMax: number, status: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const joined: Buffer[] = [];
    let chunks: Buffer[] = [];
    let size = 0;
    body.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (chunks.length === CHUNKS_MAX) {
        // A server chooses how small chunks are, and one of a byte takes more than a hundred.
        joined.push(Buffer.concat(chunks));
        chunks = [];
      }
      if (size <= bytesMax) return;
      reject(new HttpClientError("response-too-large", `the response exceeds ${bytesMax} bytes`, { status }));
      // Closes the connection.
      body.destroy();
    });
    body.on("end", () => resolve(decodeText(Buffer.concat([...joined, ...chunks], size))));
    body.on("error", reject);
    body.on("close", () => reject(new Error("the connection was closed within a response")));
  });
}

function rootMessage(error: Error): string {
  let deepest = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest.message || "the connection failed";
}

export type HttpJsonResponse = Omit<HttpClientResponse, "text"> & {
  /** The parsed body; undefined when it is not JSON. */
  readonly payload: unknown;
  /** The beginning of a body that is not JSON, redacted. */
  readonly text: string;
};

// Enough of a page or a sentence to recognise what responded.
const TEXT_SHOWN_MAX = 2_000;

/** Like sendHttpRequest. A body that is not JSON is not an error here: the caller knows what each status means. */
export async function sendJsonRequest(
  request: HttpClientRequest,
  parse: (text: string) => unknown = JSON.parse,
): Promise<HttpJsonResponse> {
  const { text, ...response } = await sendHttpRequest(request);
  try {
    return { ...response, payload: parse(text), text: "" };
  } catch {
    // The parser's error quotes the body, which may repeat a key.
    return { ...response, payload: undefined, text: request.endpoint.redact(text.slice(0, TEXT_SHOWN_MAX)) };
  }
}
