// The HTTP server both services stand on: faults as JSON, request ids, health, readiness, graceful leaving.
import { randomUUID } from "node:crypto";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Registry } from "prom-client";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { createLogThrottle, type LogThrottle } from "../lib/log.ts";
import { type CachedResponseLookup, sendCachedResponse } from "./cache/fast-path.ts";
import { createRequestErrorLogger } from "./error-log.ts";
import {
  addErrorHandlers,
  convertFastifyError,
  handleClientError,
  sendErrorResponse,
} from "./error-responses.ts";
import { createRequestMetrics } from "./metrics.ts";
import { createNodeServer } from "./node-server.ts";
import { withRequestTimeout } from "./request-timeout.ts";
import { type SerializedResponse, writeResponse } from "./response.ts";
import { addRequestClient } from "./security/client-address.ts";
import { type ConnectionLimitOptions, limitConnections } from "./security/connection-limit.ts";
import { addSecurityHooks } from "./security/headers.ts";
import { createRequestGuard } from "./security/request-guard.ts";

export type Readiness =
  | { readonly ready: true; readonly details?: Readonly<Record<string, unknown>> }
  | { readonly ready: false; readonly reason: string };

export type HttpServerOptions = {
  readonly log: Log;
  /** Largest body of any route; endpoints that need less declare so. */
  readonly bodyBytesMax: number;
  readonly requestMsMax: number;
  /** Per client; 0 or nothing is no limit. */
  readonly requestsPerMinuteMax?: number;
  /** Bytes of request bodies per client; 0 or nothing is no limit. */
  readonly bodyBytesPerMinuteMax?: number;
  /** Open at once; 0 or nothing is no limit. */
  readonly connectionsMax?: number;
  /** The same per client; without meaning behind proxies, which open all connections. */
  readonly connectionsPerClientMax?: number;
  /** How many proxies in front of us may say whom they speak for; 0 or nothing trusts none. */
  readonly trustedProxies?: number;
  readonly clock?: Clock;
  /** Where requests are counted; nowhere without it. */
  readonly registry?: Registry;
  readonly checkReadiness: () => Promise<Readiness>;
};

export type ListenAddress = { readonly host: string; readonly port: number; readonly portVariable: string };

export type HttpServer = {
  readonly app: FastifyInstance;
  /** From now on, what is kept is sent before anything else is looked at. */
  serveFromCache(kept: CachedResponseLookup): void;
  /** Sends what was made for a request of a route. */
  sendResponse(answer: SerializedResponse, request: FastifyRequest, reply: FastifyReply): void;
  /** Starts listening and answers with the URL people can open; `variable` is what configures the port. */
  listen(address: ListenAddress): Promise<string>;
  /** Takes no new connection, finishes the requests in flight, then resolves. */
  close(): Promise<void>;
};

// A path segment as long as the whole address may be: what is too long for an id is a bad id, not an unknown path.
const SEGMENT_LENGTH_MAX = 16_384;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, requestMsMax, clock = systemClock } = options;
  const guard = createRequestGuard({ ...NO_LIMITS, ...options, clock });
  const repeats = createLogThrottle(clock);
  const connections = connectionLimits(options, repeats);
  const count = options.registry ? createRequestMetrics(options.registry) : () => undefined;
  let kept: CachedResponseLookup = () => undefined;
  let leaving = false;
  const quick = { guard, observeRequest: count, isShuttingDown: () => leaving };
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // Whole-request lines are metrics' business; the log is for what went wrong.
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: what is said of a request names it, and most of them have nothing said.
    childLoggerFactory: (logger) => logger,
    bodyLimit: options.bodyBytesMax,
    routerOptions: { maxParamLength: SEGMENT_LENGTH_MAX },
    serverFactory: (handle) => {
      const server = createNodeServer(requestMsMax, (request, response) => {
        if (!sendCachedResponse(kept, request, response, quick)) handle(request, response);
      });
      limitConnections(server, connections);
      return server;
    },
    clientErrorHandler: handleClientError,
    // An id of our own making: one taken from a header could be forged into our logs.
    genReqId: () => randomUUID(),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // These pass no hook, and therefore the guard here.
    frameworkErrors: (error, request, reply) => {
      const refusal = guard.check(request.raw);
      return sendErrorResponse(
        reply.headers(refusal?.headers ?? {}),
        request.id,
        refusal?.fault ?? convertFastifyError(error),
      );
    },
  });
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
  addSecurityHooks(app, guard);
  addRequestClient(app, guard.identifyClient);
  addErrorHandlers(app, createRequestErrorLogger(log, repeats));
  app.get("/ready", async (request, reply) => {
    const readiness = await withRequestTimeout(app, options.checkReadiness());
    if (readiness.ready) return readiness;
    // Not thrown: probes ask every few seconds, and what is not ready has said so in the log already.
    return sendErrorResponse(reply, request.id, new Fault("NOT_READY", readiness.reason));
  });

  return {
    app,
    serveFromCache(from) {
      kept = from;
    },
    sendResponse(answer, request, reply) {
      reply.hijack();
      writeResponse(answer, request.raw, reply.raw, { requestId: request.id, closeConnection: leaving });
    },
    async listen(address) {
      try {
        await app.listen({ host: address.host, port: address.port });
      } catch (cause) {
        throw listenFault(cause, address);
      }
      return addressOf(app);
    },
    async close() {
      leaving = true;
      await app.close();
      repeats.close();
    },
  };
}

const NO_LIMITS = { requestsPerMinuteMax: 0, bodyBytesPerMinuteMax: 0, trustedProxies: 0 };

function connectionLimits(options: HttpServerOptions, repeats: LogThrottle): ConnectionLimitOptions {
  const { log, connectionsMax = 0, connectionsPerClientMax = 0, trustedProxies: proxies = 0 } = options;
  // Behind a proxy all connections come from its address.
  return {
    connectionsMax,
    perClientMax: proxies > 0 ? 0 : connectionsPerClientMax,
    log,
    repeatLimit: repeats,
  };
}

function listenFault(cause: unknown, { host, port, portVariable: variable }: ListenAddress): Fault {
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
