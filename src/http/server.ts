// The HTTP server of all services: errors as JSON, request ids, limits, metrics, readiness, cached responses, shutdown.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  LogController,
} from "fastify";
import type { Registry } from "prom-client";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { createLogThrottle, type Log, type LogThrottle } from "../lib/log.ts";
import { addInternalRequests } from "./internal-requests.ts";
import { createRequestMetrics, type ObserveRequest } from "./metrics.ts";
import { chooseMetricsPort, type MetricsAddress, MetricsServer } from "./metrics-server.ts";
import { type ConnectionLimitOptions, createNodeServer, limitConnections } from "./node-server.ts";
import {
  addErrorHandlers,
  convertFastifyError,
  createRequestErrorLogger,
  handleClientError,
  type SerializedResponse,
  sendErrorResponse,
  writeResponse,
} from "./response.ts";
import {
  addRequestClient,
  addSecurityHooks,
  createRequestGuard,
  type FindForeignCaller,
  type RequestGuard,
} from "./security/request-guard.ts";
import { addReadinessRoute, type Readiness } from "./status-routes.ts";

export type HttpServerOptions = {
  readonly log: Log;
  /** Largest body of any route; endpoints may declare less. */
  readonly bodyBytesMax: number;
  readonly requestMsMax: number;
  // The limits are required, so that a setting which is renamed on one side only does not compile.
  /** Per client; 0 means no limit. */
  readonly requestsPerMinuteMax: number;
  /** Bytes of request bodies per client; 0 means no limit. */
  readonly bodyBytesPerMinuteMax: number;
  /** Open at once; 0 means no limit. */
  readonly connectionsMax: number;
  /** The same per client; ignored behind proxies, which open all connections. */
  readonly connectionsPerClientMax: number;
  /** How many proxies in front of us set X-Forwarded-For; 0 trusts none. */
  readonly trustedProxies: number;
  /** Rejects pages of the web, for a service of one person on one machine; absent serves all callers. */
  readonly findForeignCaller?: FindForeignCaller | null;
  readonly clock?: Clock;
  /** Receives the request metrics; absent means no metrics. */
  readonly registry?: Registry;
  readonly checkReadiness: () => Promise<Readiness>;
};

type MountOptions = Pick<HttpServerOptions, "log" | "registry" | "checkReadiness">;

export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  readonly portVariable: string;
  /** The server that has /metrics instead; absent leaves it on the same port. */
  readonly metrics?: MetricsAddress;
};

/** The app to which routes are added. */
export type HttpApp = {
  readonly app: FastifyInstance;
  /** Sends cached responses before Fastify runs, from now on. */
  serveFromCache(lookup: CachedResponseLookup): void;
};

export type HttpServer = HttpApp & {
  /**
   * An app of its own for everything below `/d/:name`, with the limits of this server: what a client does there counts
   * with what it does here. Without options the name leads to this server's own app. Before `listen`.
   */
  mount(name: string, options?: MountOptions): HttpApp;
  /** Starts listening and returns the URL; `portVariable` is named in the error if the port is taken. */
  listen(address: ListenAddress): Promise<string>;
  /** Accepts no new connection, finishes the requests in flight, then resolves. */
  close(): Promise<void>;
};

declare module "fastify" {
  interface FastifyReply {
    /** Sends a serialized response past the onSend hooks, whose headers it already has. */
    sendSerialized(response: SerializedResponse): void;
  }
}

// As long as the whole URL may be: an overlong path segment is a bad id, not an unknown path.
const SEGMENT_LENGTH_MAX = 16_384;

type ServerState = { shuttingDown: boolean; lookup: CachedResponseLookup };

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, clock = systemClock } = options;
  const repeatLimit = createLogThrottle(clock);
  const shared: SharedParts = {
    guard: createRequestGuard({ ...options, findForeignCaller: options.findForeignCaller ?? null, clock }),
    repeatLimit,
    mounts: new Mounts(),
    metrics: new MetricsServer(),
  };
  const root = createApp(options, shared, (server) =>
    limitConnections(server, connectionLimits(options, log, repeatLimit)),
  );
  const apps = [root];

  return {
    app: root.app,
    serveFromCache: root.serveFromCache,
    mount(name, mounted) {
      const own = mounted && createApp({ ...options, ...mounted }, { ...shared, mounts: new Mounts() });
      if (own) apps.push(own);
      shared.mounts.add(name, (own ?? root).handle);
      return own ?? root;
    },
    async listen(address) {
      for (const { app } of apps) await app.ready();
      try {
        await root.app.listen({ host: address.host, port: address.port });
      } catch (cause) {
        throw listenFault(cause, address);
      }
      await openMetrics(address, { ...options, handle: root.handle, server: shared.metrics });
      return urlOf(root.app);
    },
    async close() {
      for (const { state } of apps) state.shuttingDown = true;
      // All at once: the one that listens waits for the requests in flight, which the others must end.
      await Promise.all([...apps.map(({ app }) => app.close()), shared.metrics.close()]);
      repeatLimit.close();
    },
  };
}

/** The parts that all apps of a server share. */
type SharedParts = {
  readonly guard: RequestGuard;
  readonly repeatLimit: LogThrottle;
  readonly mounts: Mounts;
  readonly metrics: MetricsServer;
};

type ServedApp = HttpApp & { readonly handle: RequestListener; readonly state: ServerState };

function createApp(
  options: HttpServerOptions,
  { guard, repeatLimit, mounts, metrics }: SharedParts,
  onServer: (server: Server) => void = () => undefined,
): ServedApp {
  const observeRequest = options.registry ? createRequestMetrics(options.registry) : () => undefined;
  const state: ServerState = { shuttingDown: false, lookup: () => undefined };
  const fastPath = { guard, observeRequest, isShuttingDown: () => state.shuttingDown };
  let respond: RequestListener = () => undefined;
  const handle: RequestListener = (incoming, outgoing) => {
    if (!sendCachedResponse(state.lookup, incoming, outgoing, fastPath)) respond(incoming, outgoing);
  };
  const app = Fastify({
    ...fastifyOptions(options, guard),
    serverFactory: (fastify) => {
      respond = fastify;
      const server = createNodeServer(options.requestMsMax, (incoming, outgoing) =>
        (mounts.enter(incoming) ?? handle)(incoming, outgoing),
      );
      onServer(server);
      return server;
    },
  });
  addServerHooks(app, state, observeRequest);
  addSecurityHooks(app, guard);
  app.addHook("onRequest", (request, _reply, done) => {
    const isHidden = request.routeOptions.url === "/metrics" && !metrics.isVisibleTo(request.raw);
    done(isHidden ? new Fault("ROUTE_UNKNOWN", "Metrics are on a port of their own.") : undefined);
  });
  addRequestClient(app, guard.identifyClient);
  const logError = createRequestErrorLogger(options.log, repeatLimit);
  addInternalRequests(app, guard, { logError, observeRequest });
  addErrorHandlers(app, {
    logError,
    describeUnknown: (url) => mounts.describeUnknown(url),
  });
  addReadinessRoute(app, options.checkReadiness);
  const serveFromCache: HttpApp["serveFromCache"] = (lookup) => {
    state.lookup = lookup;
  };
  return { app, serveFromCache, handle, state };
}

function fastifyOptions(
  { log, bodyBytesMax }: HttpServerOptions,
  guard: RequestGuard,
): FastifyHttpOptions<Server> {
  return {
    // Lines that Fastify writes itself have no fields of ours; nothing else may use this log.
    loggerInstance: log.child({ component: "http", event: "fastify" }) as FastifyBaseLogger,
    // Metrics count requests; the log is for failures.
    logController: new LogController({ disableRequestLogging: true }),
    // No child logger per request: most requests log nothing, and the lines that exist carry the request id.
    childLoggerFactory: (logger) => logger,
    bodyLimit: bodyBytesMax,
    routerOptions: { maxParamLength: SEGMENT_LENGTH_MAX },
    clientErrorHandler: handleClientError,
    // Always our own id: one from a header could forge entries in our logs.
    genReqId: () => randomUUID(),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // Framework errors pass no hook, so the guard runs here.
    frameworkErrors: (error, request, reply) => {
      const rejection = guard.check(request.raw);
      return sendErrorResponse(
        reply.headers(rejection?.headers ?? {}),
        request.id,
        rejection?.fault ?? convertFastifyError(error),
      );
    },
  };
}

/** Hooks that every request passes use callbacks: promises would be felt. */
function addServerHooks(app: FastifyInstance, state: ServerState, observeRequest: ObserveRequest): void {
  app.decorateReply("sendSerialized", function (response) {
    this.hijack();
    const options = { requestId: this.request.id, closeConnection: state.shuttingDown };
    writeResponse(response, this.request.raw, this.raw, options);
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    // Otherwise a connection with a request in flight at shutdown would idle until its keep-alive ends.
    if (state.shuttingDown) reply.header("connection", "close");
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    observeRequest(request.routeOptions.url ?? "none", reply.statusCode, reply.elapsedTime);
    done();
  });
}

function connectionLimits(
  { connectionsMax, connectionsPerClientMax, trustedProxies }: HttpServerOptions,
  log: Log,
  repeatLimit: LogThrottle,
): ConnectionLimitOptions {
  // Behind a proxy all connections come from its address.
  const perClientMax = trustedProxies > 0 ? 0 : connectionsPerClientMax;
  return { connectionsMax, perClientMax, log, repeatLimit };
}

async function openMetrics(
  { metrics, port: servicePort }: ListenAddress,
  {
    handle,
    server,
    log,
    requestMsMax,
  }: Pick<HttpServerOptions, "log" | "requestMsMax"> & {
    readonly handle: RequestListener;
    readonly server: MetricsServer;
  },
): Promise<void> {
  const port = metrics ? chooseMetricsPort(metrics, servicePort) : null;
  if (!metrics || port === null) return;
  const { host } = metrics;
  try {
    const metricsUrl = await server.open({ host, port }, { requestMsMax, handle });
    log.info(
      { component: "http", event: "metrics_listening", metricsUrl },
      "Metrics have a port of their own",
    );
  } catch (cause) {
    throw listenFault(cause, { host, port, portVariable: "SEXTANT_METRICS_PORT" });
  }
}

function listenFault(cause: unknown, { host, port, portVariable }: ListenAddress): Fault {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason =
    {
      EADDRINUSE: `port ${port} is in use; stop what listens there, or set ${portVariable} to a free port.`,
      EACCES: `port ${port} needs privileges this process does not have; set ${portVariable} to one above 1023.`,
      EADDRNOTAVAIL: `this machine has no address ${host}; set HOST to one it has.`,
      ENOTFOUND: `the name ${host} does not resolve; set HOST to an address of this machine.`,
    }[code] ?? `listening on ${host}:${port} failed.`;
  return new Fault("LISTEN_FAILED", `Cannot listen: ${reason}`, { cause });
}

function urlOf(app: FastifyInstance): string {
  const address = app.server.address();
  if (address === null || typeof address === "string")
    throw new Fault("INTERNAL", "The server listens, but has no address.");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/** The cached response to exactly this request, if it is still valid. */
type CachedResponseLookup = (
  url: string,
  request: Pick<IncomingMessage, "headers">,
) => SerializedResponse | undefined;

type FastPathOptions = {
  readonly guard: RequestGuard;
  readonly observeRequest: ObserveRequest;
  readonly isShuttingDown: () => boolean;
};

/**
 * The fast path: sends a cached response before Fastify runs, and returns whether it did. A rejected request is left to
 * Fastify, which sends the error.
 */
function sendCachedResponse(
  lookup: CachedResponseLookup,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { guard, observeRequest, isShuttingDown }: FastPathOptions,
): boolean {
  if (incoming.method !== "GET") return false;
  const response = lookup(incoming.url ?? "", incoming);
  if (!response) return false;
  const startedMs = performance.now();
  if (guard.check(incoming) !== null) return false;
  const status = writeResponse(response, incoming, outgoing, {
    requestId: randomUUID(),
    closeConnection: isShuttingDown(),
  });
  observeRequest(response.route, status, performance.now() - startedMs);
  return true;
}

const MOUNTS_PATH = "/d/";

/** The path of what is mounted under a name. */
export function mountPath(name: string): string {
  return `${MOUNTS_PATH}${name}`;
}

class Mounts {
  readonly #listeners = new Map<string, RequestListener>();

  /** The name stands in URLs as it is. */
  add(name: string, listener: RequestListener): void {
    if (!/^[a-z0-9-]+$/.test(name)) throw new TypeError(`${name} is not a name for a path`);
    this.#listeners.set(name, listener);
  }

  /**
   * Returns the app that is mounted at the beginning of a request's path, and strips that prefix from request.url;
   * undefined for other paths. Runs before everything else, the fast path included: nothing below this point sees the
   * prefix.
   */
  enter(request: IncomingMessage): RequestListener | undefined {
    const { url = "" } = request;
    if (!url.startsWith(MOUNTS_PATH)) return undefined;
    const end = url.slice(MOUNTS_PATH.length).search(/[/?]/);
    const nameEnd = end < 0 ? url.length : MOUNTS_PATH.length + end;
    const listener = this.#listeners.get(url.slice(MOUNTS_PATH.length, nameEnd));
    if (listener === undefined) return undefined;
    const rest = url.slice(nameEnd);
    request.url = rest.startsWith("/") ? rest : `/${rest}`;
    return listener;
  }

  /** The message for a path without a route. */
  describeUnknown(url: string): string {
    if (this.#listeners.size === 0 || !url.startsWith(MOUNTS_PATH)) return "There is nothing at this path.";
    return `There is no such deployment; this server has ${[...this.#listeners.keys()].join(", ")}.`;
  }
}
