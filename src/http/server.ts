// The HTTP server both services stand on: faults as JSON, request ids, health, readiness, graceful leaving.
import { randomUUID } from "node:crypto";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Registry } from "prom-client";
import { type Clock, systemClock } from "../kit/clock.ts";
import { Fault, type FaultCode, publicSentence, toFault } from "../kit/fault.ts";
import type { Log } from "../kit/log.ts";
import { type Answer, sendAnswer } from "./answer.ts";
import { answerConnectionFault } from "./connection-fault.ts";
import { createGuard } from "./guard.ts";
import { createMethodTable } from "./methods.ts";
import { createNodeServer } from "./node-server.ts";
import { addProtections, answerOptions, SAFE_HEADERS } from "./protections.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { type KeptAnswer, sendKept } from "./send-kept.ts";
import { withinRequestTime } from "./time-limit.ts";

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export type ServerOptions = {
  readonly log: Log;
  readonly bodyBytesMax: number;
  readonly requestMsMax: number;
  /** Per client; 0 or nothing is no limit. */
  readonly requestsPerMinuteMax?: number;
  /** How many proxies in front of us may say whom they speak for; 0 or nothing trusts none. */
  readonly proxies?: number;
  readonly clock?: Clock;
  /** Where requests are counted; nowhere without it. */
  readonly registry?: Registry;
  readonly ready: () => Promise<Readiness>;
};

export type ListenAddress = { readonly host: string; readonly port: number; readonly variable: string };

export type Server = {
  readonly app: FastifyInstance;
  /** From now on, what is kept is sent before anything else is looked at. */
  keepAnswers(kept: KeptAnswer): void;
  /** Sends what was made for a request of a route. */
  send(answer: Answer, request: FastifyRequest, reply: FastifyReply): void;
  /** Starts listening and answers with the URL people can open; `variable` is what configures the port. */
  listen(address: ListenAddress): Promise<string>;
  /** Takes no new connection, finishes the requests in flight, then resolves. */
  close(): Promise<void>;
};

// A path segment as long as the whole address may be: what is too long for an id is a bad id, not an unknown path.
const SEGMENT_LENGTH_MAX = 16_384;

export function createServer(options: ServerOptions): Server {
  const { log, requestMsMax, requestsPerMinuteMax = 0, proxies = 0, clock = systemClock } = options;
  const guard = createGuard({ requestsPerMinuteMax, proxies, clock });
  const count = options.registry ? createRequestMetrics(options.registry) : () => undefined;
  let kept: KeptAnswer = () => undefined;
  let leaving = false;
  const quick = { guard, count, isLeaving: () => leaving };
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // Whole-request lines are metrics' business; the log is for what went wrong.
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: what is said of a request names it, and most of them have nothing said.
    childLoggerFactory: (logger) => logger,
    bodyLimit: options.bodyBytesMax,
    routerOptions: { maxParamLength: SEGMENT_LENGTH_MAX },
    serverFactory: (handle) =>
      createNodeServer(requestMsMax, (request, response) => {
        if (!sendKept(kept, request, response, quick)) handle(request, response);
      }),
    clientErrorHandler: answerConnectionFault,
    // An id of our own making: one taken from a header could be forged into our logs.
    genReqId: () => randomUUID(),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendFault(reply, request.id, fromFramework(error)),
  });
  const methods = createMethodTable(app);
  // Hooks that every request passes have a callback: promises would be felt.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    // A connection whose request was in flight when leaving began would otherwise idle until its keep-alive runs out.
    if (leaving) reply.header("connection", "close");
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    count(request.routeOptions.url ?? "none", reply.statusCode, reply.elapsedTime);
    done();
  });
  addProtections(app, guard);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = fromFramework(error);
    if (fault.status >= 500) log.error({ reqId: request.id, err: error }, "request failed");
    return sendFault(reply, request.id, fault);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods.allowedFor(request.url);
    if (allowed.length === 0) throw new Fault("ROUTE_UNKNOWN", "There is nothing at this path.");
    if (request.method === "OPTIONS") return answerOptions(reply, allowed);
    reply.header("allow", allowed.join(", "));
    throw new Fault("METHOD_NOT_ALLOWED", `This path answers ${allowed.join(", ")} only.`);
  });
  app.get("/ready", async (request, reply) => {
    const readiness = await withinRequestTime(app, options.ready());
    if (readiness.ready) return { ready: true };
    // Not thrown: probes ask every few seconds, and what is not ready has said so in the log already.
    return sendFault(reply, request.id, new Fault("NOT_READY", readiness.reason));
  });

  return {
    app,
    keepAnswers(from) {
      kept = from;
    },
    send(answer, request, reply) {
      reply.hijack();
      sendAnswer(answer, request.raw, reply.raw, { id: request.id, leaving });
    },
    async listen(address) {
      try {
        await app.listen({ host: address.host, port: address.port });
      } catch (cause) {
        throw listenFault(cause, address);
      }
      return addressOf(app);
    },
    close() {
      leaving = true;
      return app.close();
    },
  };
}

function sendFault(reply: FastifyReply, requestId: string, fault: Fault): FastifyReply {
  return reply
    .code(fault.status)
    .headers(SAFE_HEADERS)
    .header("x-request-id", requestId)
    .header("x-error-code", fault.code)
    .send({ error: publicSentence(fault) });
}

// Fastify names the client's mistakes by status; its texts are replaced, because they may quote the input.
const BY_STATUS: Readonly<Record<number, readonly [FaultCode, string]>> = {
  400: ["INPUT_INVALID", "The request is malformed."],
  413: ["BODY_TOO_LARGE", "The request body is larger than allowed."],
  414: ["INPUT_INVALID", "The path is too long."],
  415: ["CONTENT_TYPE_UNSUPPORTED", "The request body must be sent as application/json."],
};

function fromFramework(error: FastifyError): Fault {
  const known = error instanceof Fault ? undefined : BY_STATUS[error.statusCode ?? 500];
  return known ? new Fault(known[0], known[1], { cause: error }) : toFault(error);
}

function listenFault(cause: unknown, { host, port, variable }: ListenAddress): Fault {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const sentence =
    {
      EADDRINUSE: `port ${port} is in use; stop what listens there, or set ${variable} to a free port.`,
      EACCES: `port ${port} needs privileges this process does not have; set ${variable} to one above 1023.`,
      EADDRNOTAVAIL: `this machine has no address ${host}; set HOST to one it has.`,
      ENOTFOUND: `the name ${host} does not resolve; set HOST to an address of this machine.`,
    }[code] ?? `listening on ${host}:${port} failed.`;
  return new Fault("LISTEN_FAILED", `Cannot listen: ${sentence}`, { cause });
}

function addressOf(app: FastifyInstance): string {
  const address = app.server.address();
  if (address === null || typeof address === "string")
    throw new Fault("INTERNAL", "The server listens, but has no address.");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
