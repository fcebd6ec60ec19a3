// Faults as replies of the framework: what a handler throws, what the framework rejects, and paths that are no route.

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import { Fault, type FaultCode, publicMessage, toFault } from "../lib/fault.ts";
import type { LogRequestError } from "./error-log.ts";
import { DEFAULT_HEADERS, sendPreflightResponse } from "./security/headers.ts";

// Which methods each path answers, so that a wrong one gets 405 and an Allow header instead of 404.

export type AllowedMethods = { forUrl(url: string): readonly string[] };

/** Listens to the routes as they are registered; must be made before the first one. */
export function trackAllowedMethods(app: FastifyInstance): AllowedMethods {
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

// Only literal segments and `:name` parameters, which the router also takes empty, occur in our routes.
function patternOf(url: string): RegExp {
  const segments = url
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]*" : escapeRegex(segment)));
  return new RegExp(`^${segments.join("/")}$`);
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// What never became a request: answered on the bare connection, in the same form as every other fault.

export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // A client that has gone away hears nothing.
  if (error.code === "ECONNRESET") socket.destroy();
  else writeConnectionError(faultOf(error), socket);
}

/** Responds on the bare connection and closes it. */
export function writeConnectionError(
  fault: Fault,
  socket: Socket,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.writable) socket.write(written(fault, headers));
  socket.destroy();
}

function faultOf(error: NodeJS.ErrnoException): Fault {
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new Fault("HEADERS_TOO_LARGE", "The address and headers are larger than allowed.", {
      cause: error,
    });
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Fault("REQUEST_TOO_SLOW", "The request did not arrive within its time limit.", {
      cause: error,
    });
  }
  return new Fault("INPUT_INVALID", "The request is malformed.", { cause: error });
}

function written(fault: Fault, more: Readonly<Record<string, string>>): string {
  const body = JSON.stringify({ error: fault.message });
  const headers = {
    ...more,
    ...DEFAULT_HEADERS,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "x-error-code": fault.code,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join("")}\r\n${body}`;
}

/** Must be added before the first route, and after the hooks that every request passes. */
export function addErrorHandlers(app: FastifyInstance, logFault: LogRequestError): void {
  const methods = trackAllowedMethods(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = convertFastifyError(error);
    logFault(fault, error, request.id);
    return sendErrorResponse(reply, request.id, fault);
  });
  // A hook and not a handler: the framework would first read and parse a body that has no route.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const allowed = methods.forUrl(request.url);
    if (allowed.length === 0) return done(new Fault("ROUTE_UNKNOWN", "There is nothing at this path."));
    if (request.method === "OPTIONS") return void sendPreflightResponse(reply, allowed);
    reply.header("allow", allowed.join(", "));
    done(new Fault("METHOD_NOT_ALLOWED", `This path answers ${allowed.join(", ")} only.`));
  });
}

export function sendErrorResponse(reply: FastifyReply, requestId: string, fault: Fault): FastifyReply {
  if (fault.retryAfterSeconds !== null) reply.header("retry-after", String(fault.retryAfterSeconds));
  return reply
    .code(fault.status)
    .headers(DEFAULT_HEADERS)
    .header("x-request-id", requestId)
    .header("x-error-code", fault.code)
    .send({ error: publicMessage(fault) });
}

// Fastify names the client's mistakes by status; its texts are replaced, because they may quote the input.
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
