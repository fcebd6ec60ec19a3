// Turns faults into responses (of handlers, Fastify or Node, and for unknown paths), and logs those that are our failure.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import { Fault, type FaultCode, publicMessage, toFault } from "../lib/fault.ts";
import type { Log, LogThrottle } from "../lib/log.ts";
import type { EndpointResponse } from "../schema/endpoint.ts";
import type { HtmlPage } from "./pages/document.ts";
import { DEFAULT_HEADERS } from "./response.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Sends a page for an unknown path to a client that prefers one; undefined leaves the response as JSON. */
    respondUnknown:
      | ((fault: Fault, request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined)
      | null;
  }
}

/** Shows people a page for an unknown path. */
export function addUnknownPage(
  app: FastifyInstance,
  isPerson: (accept: string | undefined) => boolean,
  render: () => HtmlPage,
): void {
  app.respondUnknown = (fault, request, reply) => {
    reply.header("vary", "accept");
    if (request.method !== "GET" || !isPerson(request.headers.accept)) return undefined;
    const { html, contentSecurityPolicy } = render();
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
  const methods = trackAllowedMethods(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = convertFastifyError(error);
    logError(fault, error, request.id);
    return sendErrorResponse(reply, request.id, fault);
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
        "*, Content-Type, X-Min-Block, PAYMENT-SIGNATURE, Access-Control-Expose-Headers",
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
