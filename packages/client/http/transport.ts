// Sends one request and reads its whole response, within limits of time and size; every failure is a SextantError.
import { isServiceCode, SextantError } from "../errors.ts";

export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Returns a redirect instead of rejecting it; one that a browser hides has the status 0 and no headers. */
  readonly returnsRedirect?: boolean;
  readonly signal?: AbortSignal | undefined;
};

export type HttpResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

export type Transport = {
  /** Any status; throws if there is no complete response. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** A stream of events: its head within the time limit, its body as it comes. For another status than 200 the response. */
  open(request: HttpRequest): Promise<OpenedStream | HttpResponse>;
};

type OpenedStream = { readonly headers: Headers; readonly body: ReadableStream<Uint8Array> };

export const STREAM_TYPE = "text/event-stream";

type TransportOptions = {
  readonly fetch?: typeof fetch | undefined;
  /** The time from the first byte sent to the last byte read. */
  readonly timeoutMs?: number | undefined;
  readonly responseBytesMax?: number | undefined;
};

// The services end a request after 30 seconds.
const TIMEOUT_MS = 35_000;
// A page has at most half a megabyte. A snapshot of the largest wallet on ten chains has a few.
export const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
// Longer waits are an operator's error or an attack.
const RETRY_AFTER_MS_MAX = 86_400_000;

export function createTransport(options: TransportOptions): Transport {
  const { timeoutMs = TIMEOUT_MS, responseBytesMax = RESPONSE_BYTES_MAX } = options;
  async function begin(request: HttpRequest, deadline: AbortSignal): Promise<Response> {
    // Looked up for each request: programs replace the global one in tests and with proxies.
    const send = options.fetch ?? globalThis.fetch;
    const response = await send(request.url, {
      method: request.method,
      headers: { accept: "application/json", ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      signal: request.signal ? AbortSignal.any([request.signal, deadline]) : deadline,
      // No request may go to a server that the caller did not name, least of all one with a payment.
      redirect: "manual",
    });
    if (request.returnsRedirect !== true || response.redirected) rejectRedirect(response, request.url);
    return response;
  }
  return {
    async send(request) {
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const response = await begin(request, deadline);
        const text = await readText(response, responseBytesMax);
        return { status: response.status, headers: response.headers, text };
      } catch (cause) {
        throw toTransportError(cause, request, deadline);
      }
    },
    async open(request) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), timeoutMs);
      try {
        const response = await begin(request, late.signal);
        const { status, headers, body } = response;
        if (status !== 200) return { status, headers, text: await readText(response, responseBytesMax) };
        if (body !== null && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) {
          return { headers, body };
        }
        body?.cancel().catch(() => undefined);
        throw new SextantError("RESPONSE_INVALID", "The response is not a stream of events.", { status });
      } catch (cause) {
        throw toTransportError(cause, request, late.signal);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function rejectRedirect(response: Response, url: string): void {
  const { type, status, redirected } = response;
  // The fetch of a caller may have followed one although it was asked not to.
  const isRedirect = redirected || type === "opaqueredirect" || (status >= 300 && status < 400);
  if (!isRedirect || status === 304) return;
  response.body?.cancel().catch(() => undefined);
  const target = response.headers.get("location");
  const where = target === null ? "another address" : shorten(target);
  throw new SextantError(
    "REDIRECTED",
    `${originOf(url)} redirects to ${where}; redirects are not followed.`,
    {
      status: response.status,
    },
  );
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      reader.cancel().catch(() => undefined);
      throw new SextantError("RESPONSE_INVALID", `The response has more than ${bytesMax} bytes.`, {
        status: response.status,
      });
    }
    chunks.push(value);
  }
  return decode(chunks, bytes);
}

/** Strictly: a document with another byte in place of one that is not UTF-8 would be another document. */
function decode(chunks: readonly Uint8Array[], length: number): string {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SextantError("RESPONSE_INVALID", "The response is not UTF-8 text.", { cause });
  }
}

function toTransportError(cause: unknown, request: HttpRequest, deadline: AbortSignal): SextantError {
  if (cause instanceof SextantError) return cause;
  if (request.signal?.aborted) return new SextantError("ABORTED", "The request was aborted.", { cause });
  const origin = originOf(request.url);
  if (deadline.aborted) {
    return new SextantError("UNREACHABLE", `${origin} did not respond completely in time.`, { cause });
  }
  return new SextantError("UNREACHABLE", `No complete response from ${origin}.`, { cause });
}

/** The error that a response of another status than 2xx stands for. */
export function toResponseError({ status, headers, text }: HttpResponse): SextantError {
  const code = readServiceCode(headers) ?? codeForStatus(status);
  return new SextantError(code, sentenceIn(text) ?? `The service responded with status ${status}.`, {
    status,
    retryAfterMs: readRetryAfter(headers.get("retry-after")),
    requestId: headers.get("x-request-id"),
  });
}

/** The code of an error that the service itself has sent; null for another sender, such as a proxy. */
export function readServiceCode(headers: Headers) {
  const given = headers.get("x-error-code") ?? "";
  return isServiceCode(given) ? given : null;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SextantError("RESPONSE_INVALID", "The response is not JSON.", { cause });
  }
}

/** For a response without our code, such as that of a proxy. */
function codeForStatus(status: number) {
  if (status === 402) return "PAYMENT_REQUIRED";
  if (status === 404) return "NOT_FOUND";
  if (status === 429) return "RATE_LIMITED";
  if (status === 502 || status === 503 || status === 504) return "OVERLOADED";
  return status >= 500 ? "INTERNAL" : "INPUT_INVALID";
}

/** Seconds or a date, as HTTP allows both. */
function readRetryAfter(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : null;
}

function sentenceIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? shorten(error) : null;
  } catch {
    return null;
  }
}

/** Text of a server that ends in an error message: one line, without what could steer a terminal. */
export function shorten(text: string, lengthMax = 300): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return plain.length > lengthMax ? `${plain.slice(0, lengthMax)}…` : plain;
}

function originOf(url: string): string {
  return new URL(url).origin;
}
