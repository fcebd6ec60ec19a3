// Builds and writes responses, those of faults too: the one place that merges headers, computes ETags and decides on 304.
import { hash } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault, type FaultCode, publicMessage, toFault } from "../lib/fault.ts";
import { stringifyVisibly } from "../lib/foreign-text.ts";
import type { Log, LogThrottle } from "../lib/log.ts";
import type { EndpointResponse } from "../schema/endpoint.ts";
import type { HtmlPage } from "./pages/document.ts";

/** No response is meant to be rendered, framed or sniffed; the pages we serve override this. */
export const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // Default to no-store: a 404 is heuristically cacheable. Cacheable responses override this.
  "cache-control": "no-store",
  // The data is public, and there is no cookie or credential that another origin could misuse.
  "access-control-allow-origin": "*",
  // Listed alongside the star: some clients read the star as a literal header name.
  "access-control-expose-headers":
    "*, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Block-Number, X-Block-Time, X-Error-Code, X-Indexed-Block, X-Indexed-Time, X-Request-Id, WWW-Authenticate, Payment-Receipt",
};

/** Signs the responses that are to be signed, and leaves the others as they are. */
export type SignResponse = (
  response: SerializedResponse,
  request: { readonly method: string; readonly url: string },
) => SerializedResponse;

export type SerializedResponse = {
  /** The route pattern, as declared. */
  readonly route: string;
  readonly status: number;
  readonly body: Buffer;
  /** Null for a response that never becomes a 304, such as a paid one. */
  readonly etag: string | null;
  /** The indexed block that it reflects; null for what is not read from the index. */
  readonly indexedBlock: bigint | null;
  /** The revision of the index that it was read from; null if that is not known. */
  readonly indexedRevision: bigint | null;
  /** Names and values in turn: everything except the headers that differ per request. */
  readonly headers: readonly string[];
};

type ResponseParts = {
  readonly route: string;
  readonly status?: number;
  /** Bytes are sent unchanged, anything else as JSON. */
  readonly body: unknown;
  /** Override the default headers. An `etag` among them is compared with If-None-Match. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Derives the ETag from the body. */
  readonly computeEtag?: boolean;
  readonly indexedBlock?: bigint;
  readonly indexedRevision?: bigint;
};

const JSON_TYPE = "application/json; charset=utf-8";
const BYTES_TYPE = "application/octet-stream";
export const DEFAULT_ENTRIES = Object.entries(DEFAULT_HEADERS);

export function serializeResponse(parts: ResponseParts): SerializedResponse {
  const { route, status = 200, body } = parts;
  const bytes = toBytes(body);
  const own: Record<string, string> = {};
  for (const name in parts.headers) own[name.toLowerCase()] = parts.headers[name] ?? "";
  own["content-type"] ??= body instanceof Uint8Array ? BYTES_TYPE : JSON_TYPE;
  if (parts.computeEtag === true) own.etag = `"${hash("sha1", bytes, "base64url")}"`;
  const headers: string[] = [];
  for (const [name, value] of DEFAULT_ENTRIES) if (own[name] === undefined) headers.push(name, value);
  for (const name in own) headers.push(name, own[name] ?? "");
  const { indexedBlock = null, indexedRevision = null } = parts;
  return { route, status, body: bytes, etag: own.etag ?? null, indexedBlock, indexedRevision, headers };
}

function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = stringifyVisibly(body);
  if (text === undefined) throw new Fault("INTERNAL", "The response has no body.");
  return Buffer.from(text);
}

/** As an endpoint would return it. */
export function toEndpointResponse({ status, body, headers }: SerializedResponse): EndpointResponse {
  const entries = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ""]] : []));
  return { status, body, headers: Object.fromEntries(entries) };
}

type WriteResponseOptions = {
  readonly requestId: string;
  /** Set while the process shuts down, so that the client opens another connection. */
  readonly closeConnection: boolean;
};

/** Returns the status that was sent. Node drops the body of a response to HEAD itself. */
export function writeResponse(
  response: SerializedResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { requestId, closeConnection }: WriteResponseOptions,
): number {
  const { status, body } = response;
  const headers = [...response.headers, "x-request-id", requestId];
  if (closeConnection) headers.push("connection", "close");
  if (isNotModified(response, incoming)) {
    outgoing.writeHead(304, headers).end();
    return 304;
  }
  headers.push("content-length", String(body.length));
  outgoing.writeHead(status, headers).end(body);
  return status;
}

function isNotModified({ status, etag }: SerializedResponse, { method, headers }: IncomingMessage): boolean {
  if (etag === null || status !== 200) return false;
  return (method === "GET" || method === "HEAD") && etagMatches(headers["if-none-match"], etag);
}

/** If-None-Match compares weakly, and may list several ETags or `*`. */
function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === "*") return true;
  return header.split(",").some((part) => part.trim().replace(/^W\//, "") === etag);
}

declare module "fastify" {
  interface FastifyInstance {
    /** Sends a page for an unknown path to a client that prefers one; undefined leaves the response as JSON. */
    respondUnknown:
      | ((fault: Fault, request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined)
      | null;
    /** Signs the errors of routes whose responses are signed; null signs none. */
    signError: SignResponse | null;
  }
}

/** Shows people a page for an unknown path. */
export function addUnknownPage(
  app: FastifyInstance,
  isPerson: (accept: string | undefined) => boolean,
  render: (fault: Fault) => HtmlPage,
): void {
  app.respondUnknown = (fault, request, reply) => {
    reply.header("vary", "accept");
    if (request.method !== "GET" || !isPerson(request.headers.accept)) return undefined;
    const { html, contentSecurityPolicy } = render(fault);
    const { status, headers } = describeFault(fault);
    return reply
      .code(status)
      .headers(headers)
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": contentSecurityPolicy,
        "x-request-id": request.id,
      })
      .send(html);
  };
}

/** Must be added before the first route, and after the hooks that every request passes. */
export function addErrorHandlers(
  app: FastifyInstance,
  {
    logError,
    describeUnknown,
  }: {
    readonly logError: LogRequestError;
    /** The message for a path without a route. */
    readonly describeUnknown: (url: string) => string;
  },
): void {
  app.decorate("respondUnknown", null);
  app.decorate("signError", null);
  const methods = trackAllowedMethods(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = convertFastifyError(error);
    logError(fault, error, request.id);
    if (app.signError === null) return sendErrorResponse(reply, request.id, fault);
    reply.sendSerialized(app.signError(serializeFault(fault, request, reply), request));
  });
  // A hook, not a handler: Fastify would first read and parse the body of a request without a route.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const allowed = methods.forUrl(request.url);
    if (allowed.length === 0) {
      const fault = new Fault("ROUTE_UNKNOWN", describeUnknown(request.url));
      return void (app.respondUnknown?.(fault, request, reply) ?? done(fault));
    }
    if (request.method === "OPTIONS") return void sendPreflightResponse(reply, allowed);
    reply.header("allow", allowed.join(", "));
    done(new Fault("METHOD_NOT_ALLOWED", `Method not allowed. Allowed: ${allowed.join(", ")}.`));
  });
}

// One day; browsers cap it themselves.
const PREFLIGHT_SECONDS = "86400";

/** Responds to the CORS preflight of a browser. */
function sendPreflightResponse(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  const allowed = [...methods, "OPTIONS"].join(", ");
  return reply
    .code(204)
    .headers({
      allow: allowed,
      "access-control-allow-methods": allowed,
      "access-control-allow-headers":
        "*, Content-Type, X-Min-Block, PAYMENT-SIGNATURE, Authorization, Payment-Authorization, SIGN-IN-WITH-X, Access-Control-Expose-Headers",
      "access-control-max-age": PREFLIGHT_SECONDS,
    })
    .send();
}

type AllowedMethods = { forUrl(url: string): readonly string[] };

/** The methods of each path, so that a wrong one gets 405 and an Allow header instead of 404. */
function trackAllowedMethods(app: FastifyInstance): AllowedMethods {
  const routes: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return {
    forUrl(url) {
      const [path = ""] = url.split("?", 1);
      const methods = routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
      return [...new Set(methods)].sort();
    },
  };
}

// Our routes have only literal segments and `:name` parameters, which the router also matches empty.
function patternOf(url: string): RegExp {
  const segments = url
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]*" : escapeRegex(segment)));
  return new RegExp(`^${segments.join("/")}$`);
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function serializeFault(fault: Fault, request: FastifyRequest, reply: FastifyReply): SerializedResponse {
  const { status, headers, body } = describeFault(fault);
  const given = Object.entries(reply.getHeaders()).map(([name, value]) => [name, [value].flat().join(", ")]);
  const route = request.routeOptions.url ?? "";
  return serializeResponse({ route, status, body, headers: { ...Object.fromEntries(given), ...headers } });
}

export function sendErrorResponse(reply: FastifyReply, requestId: string, fault: Fault): FastifyReply {
  const { status, headers, body } = describeFault(fault);
  return reply.code(status).headers(headers).header("x-request-id", requestId).send(body);
}

export function describeFault(fault: Fault): Required<EndpointResponse> {
  const { status, retryAfterSeconds } = fault;
  const retry = retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) };
  return {
    status,
    headers: { ...retry, ...errorHeaders(fault), ...fault.headers },
    body: errorBody(fault),
  };
}

function errorHeaders(fault: Fault): Readonly<Record<string, string>> {
  return { ...DEFAULT_HEADERS, "x-error-code": fault.code };
}

function errorBody(fault: Fault): { readonly error: string } {
  return { error: publicMessage(fault) };
}

// Fastify reports client errors by status. Its messages are replaced, because they may quote the input.
const BY_STATUS: Readonly<Record<number, readonly [FaultCode, string]>> = {
  400: ["INPUT_INVALID", "The request is malformed."],
  413: ["BODY_TOO_LARGE", "The request body is larger than allowed."],
  414: ["INPUT_INVALID", "The path is too long."],
  415: ["CONTENT_TYPE_UNSUPPORTED", "The request body must be sent as application/json."],
};

export function convertFastifyError(error: FastifyError): Fault {
  const known = error instanceof Fault ? undefined : BY_STATUS[error.statusCode ?? 500];
  return known ? new Fault(known[0], known[1], { cause: error }) : toFault(error);
}

/** Handles bytes that never became a request, in the same form as every other error. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The client is gone.
  if (error.code === "ECONNRESET") socket.destroy();
  else writeConnectionError(convertNodeError(error), socket);
}

/** Responds on the bare connection and closes it. */
export function writeConnectionError(
  fault: Fault,
  socket: Socket,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.writable) socket.write(formatErrorResponse(fault, headers));
  socket.destroy();
}

function convertNodeError(error: NodeJS.ErrnoException): Fault {
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new Fault("HEADERS_TOO_LARGE", "The URL and headers are larger than allowed.", { cause: error });
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Fault("REQUEST_TOO_SLOW", "The request did not arrive within its time limit.", {
      cause: error,
    });
  }
  return new Fault("INPUT_INVALID", "The request is malformed.", { cause: error });
}

function formatErrorResponse(fault: Fault, extraHeaders: Readonly<Record<string, string>>): string {
  const body = JSON.stringify(errorBody(fault));
  const headers = {
    ...extraHeaders,
    ...errorHeaders(fault),
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join("")}\r\n${body}`;
}

export type LogRequestError = (fault: Fault, error: unknown, requestId: string) => void;

// Enough to distinguish defects; messages may quote what a client sent.
const KEY_LENGTH_MAX = 200;
const CAUSES_MAX = 4;

/** Logs requests that failed on our side: defects with their stack, expected faults in one line, repeats counted. */
export function createRequestErrorLogger(log: Log, repeatLimit: LogThrottle): LogRequestError {
  return (fault, error, reqId) => {
    if (fault.status < 500) return;
    const { code } = fault;
    if (fault.retry) {
      // Overload, an outage, a timeout: the stack says nothing, and under load there are thousands.
      repeatLimit.report(code, (repeated) =>
        log.warn(
          {
            component: "http",
            event: "request_failed",
            code,
            reqId,
            repeated: repeated || undefined,
            reason: reasonOf(error),
          },
          "Request failed",
        ),
      );
      return;
    }
    repeatLimit.report(`${code} ${reasonOf(error)}`.slice(0, KEY_LENGTH_MAX), (repeated) =>
      log.error(
        {
          component: "http",
          event: "request_failed",
          code,
          reqId,
          repeated: repeated || undefined,
          err: error,
        },
        "Request failed",
      ),
    );
  };
}

/** The messages of an error and its causes. */
function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < CAUSES_MAX; each = each.cause) {
    messages.push(each instanceof Fault ? each.message : `${each.name}: ${each.message}`);
  }
  return messages.length === 0 ? String(error) : messages.join(" < ");
}
