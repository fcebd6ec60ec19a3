// Requests as routes read them, and those that pages and tools make in this process for the client they serve.
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault, toFault } from "../lib/fault.ts";
import { stringifyVisibly } from "../lib/foreign-text.ts";
import type { EndpointResponse, StreamedResponse } from "../schema/endpoint.ts";
import type { Parameter, ParameterValues } from "../schema/parameter.ts";
import type { ObserveRequest } from "./metrics.ts";
import { describeFault, type LogRequestError } from "./response.ts";
import type { RequestGuard } from "./security/request-guard.ts";

/** The part of a request that routes read, whether it came over a connection or from this process. */
export type RouteRequest = Pick<FastifyRequest, "url" | "params" | "headers" | "client" | "body"> & {
  readonly raw: { readonly socket: ClientSocket; readonly method?: string | undefined };
};

/** Closes when the client leaves. */
type ClientSocket = Pick<EventEmitter, "setMaxListeners" | "once" | "removeListener"> & {
  readonly destroyed: boolean;
};

type InternalRoute = {
  /** As declared, such as `/intents/:id`. */
  readonly path: string;
  readonly bodyBytesMax: number;
  readonly respond: (request: RouteRequest) => Promise<EndpointResponse | StreamedResponse>;
};

declare module "fastify" {
  interface FastifyInstance {
    /** The routes that this process may call itself, by their names in OpenAPI. */
    readonly internalRoutes: Map<string, InternalRoute>;
    /** Counts a request that this process makes for a client; throws if the client has made too many. */
    countInternalRequest(client: string, bodyBytes: number): void;
    readonly logRequestError: LogRequestError;
    readonly observeInternalRequest: ObserveRequest;
  }
}

/** Must be added before the first route. */
export function addInternalRequests(
  app: FastifyInstance,
  guard: Pick<RequestGuard, "count">,
  { logError, observeRequest }: { logError: LogRequestError; observeRequest: ObserveRequest },
): void {
  app.decorate("internalRoutes", new Map());
  app.decorate("logRequestError", logError);
  app.decorate("observeInternalRequest", observeRequest);
  app.decorate("countInternalRequest", (client: string, bodyBytes: number) => {
    const rejection = guard.count(client, bodyBytes);
    if (rejection === null) return;
    const { fault, headers } = rejection;
    throw new Fault(fault.code, fault.message, { headers });
  });
}

type InternalRequest = {
  readonly operationId: string;
  /** Path and query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly client: string;
  readonly signal: AbortSignal;
};

/** The response of a route; throws its fault. Limits are not counted: the request that causes this one was. */
export async function callRoute(app: FastifyInstance, request: InternalRequest): Promise<EndpointResponse> {
  const route = app.internalRoutes.get(request.operationId);
  if (!route) throw new Fault("ROUTE_UNKNOWN", `There is no route ${request.operationId}.`);
  const body = request.body === null ? undefined : Buffer.from(JSON.stringify(request.body));
  if (body !== undefined && body.length > route.bodyBytesMax) {
    throw new Fault("BODY_TOO_LARGE", "The request body is larger than allowed.");
  }
  const { url, client, signal, headers = {} } = request;
  const socket = Object.assign(new EventEmitter(), { destroyed: signal.aborted });
  const leave = () => socket.emit("close");
  signal.addEventListener("abort", leave, { once: true });
  try {
    const params = matchPath(route.path, url);
    const response = await route.respond({ url, params, headers, client, body, raw: { socket } });
    if ("open" in response) {
      response.cancel();
      throw new Fault("INTERNAL", "A stream cannot be read from this process.");
    }
    return response;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

type SentResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The same as a client gets it, errors included. It counts in the limits of the client, like the request it is. */
export async function sendToRoute(app: FastifyInstance, request: InternalRequest): Promise<SentResponse> {
  const startedMs = performance.now();
  const response = await countAndCall(app, request);
  const { path = "none" } = app.internalRoutes.get(request.operationId) ?? {};
  app.observeInternalRequest(path, response.status, performance.now() - startedMs);
  return response;
}

async function countAndCall(app: FastifyInstance, request: InternalRequest): Promise<SentResponse> {
  try {
    const bytes = request.body === null ? 0 : Buffer.byteLength(JSON.stringify(request.body));
    app.countInternalRequest(request.client, bytes);
    return toText(await callRoute(app, request));
  } catch (error) {
    const fault = toFault(error);
    app.logRequestError(fault, error, randomUUID());
    return toText(describeFault(fault));
  }
}

function toText({ status, headers = {}, body }: EndpointResponse): SentResponse {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : stringifyVisibly(body);
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { status, headers: Object.fromEntries(lowered), body: text ?? "" };
}

function matchPath(pattern: string, url: string): Readonly<Record<string, string>> {
  const [path = ""] = url.split("?", 1);
  const segments = path.split("/");
  const named = pattern
    .split("/")
    .flatMap((part, index) =>
      part.startsWith(":") ? [[part.slice(1), segments[index] ?? ""] as const] : [],
    );
  return Object.fromEntries(named.map(([name, value]) => [name, decodeURIComponent(value)]));
}

// More than any route has.
const KEYS_MAX = 50;

/** Values by key. Callers ignore unknown keys; a repeated key is an error, because servers disagree on which counts. */
export function readQuery(url: string): ReadonlyMap<string, string> {
  const start = url.indexOf("?");
  const values = new Map<string, string>();
  if (start < 0) return values;
  for (const part of url.slice(start + 1).split("&")) {
    if (part === "") continue;
    const [key, value] = decodePair(part);
    if (values.has(key)) throw new Fault("INPUT_INVALID", "A query key is given twice.");
    if (values.size >= KEYS_MAX) throw new Fault("INPUT_INVALID", `A query has at most ${KEYS_MAX} keys.`);
    values.set(key, value);
  }
  return values;
}

function decodePair(part: string): [string, string] {
  const equals = part.indexOf("=");
  try {
    return equals < 0 ? [decode(part), ""] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
  } catch (cause) {
    throw new Fault("INPUT_INVALID", "The query is not valid percent-encoding.", { cause });
  }
}

const ENCODED = /[%+]/;

function decode(text: string): string {
  return ENCODED.test(text) ? decodeURIComponent(text.replaceAll("+", " ")) : text;
}

/** Parsed values by name; absent parameters have no key. */
export function readParameters<T>(
  parameters: readonly Parameter<T>[],
  request: Pick<RouteRequest, "params">,
  query: ReadonlyMap<string, string>,
): ParameterValues<T> {
  const path = request.params as Readonly<Record<string, string>>;
  const values: Record<string, T> = {};
  for (const { name, in: location, required, kind } of parameters) {
    if (location === "header") continue;
    const text = location === "path" ? path[name] : query.get(name);
    if (text !== undefined) values[name] = kind.parse(text, name);
    else if (required) throw new Fault("INPUT_INVALID", `${name} is required.`);
  }
  return values;
}

/**
 * The result of `work`, or `late` once the work exceeds the server's request timeout, without which that is a fault: the
 * client gets a response even if the work never ends.
 */
export function withRequestTimeout<T>(
  app: FastifyInstance,
  work: Promise<T>,
  late: T | null = null,
): Promise<T> {
  const ms = app.server.requestTimeout;
  if (ms === 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (late !== null) resolve(late);
      else reject(new Fault("TIMED_OUT", "The request took too long; try again in a moment."));
    }, ms);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
