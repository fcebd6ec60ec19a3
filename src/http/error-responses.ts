// Faults as replies of the framework: what a handler throws, what the framework rejects, and paths that are no route.
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import { Fault, type FaultCode, publicMessage, toFault } from "../lib/fault.ts";
import { trackAllowedMethods } from "./allowed-methods.ts";
import type { LogRequestError } from "./error-log.ts";
import { DEFAULT_HEADERS, sendPreflightResponse } from "./security/headers.ts";

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
