// Node's HTTP server below Fastify, with its timeouts, one response at a time for a connection, and a close that waits for nothing idle.

import { readFileSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { ClientCounts } from "../lib/concurrency-limit.ts";
import { Fault } from "../lib/fault.ts";
import type { Log, LogThrottle } from "../lib/log.ts";
import { writeConnectionError } from "./response.ts";
import { toClientId } from "./security/request-guard.ts";
import { descriptorOf, type SlowReaderLimits, SlowReaders } from "./slow-readers.ts";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

// Browsers and our own clients do not pipeline, and tools that do seldom exceed this. A packet of 64 KiB can hold
// thousands of requests, each of which costs a few kilobytes before any work is done.
const WAITING_MAX = 128;

/**
 * Bounds what a connection can make us hold to one response: the next request starts, and is read, when the response
 * before it has gone out. Node starts every request in a packet, so a client could cause thousands of responses and read
 * none.
 */
function serializeRequests(
  listener: RequestListener,
  waitUntilRead: SlowReaders["waitUntilRead"],
): {
  readonly listener: RequestListener;
  /** Nothing was requested on the connection, or everything that was has left the process. */
  readonly isIdle: (socket: Socket) => boolean;
} {
  const current = new WeakMap<Socket, ServerResponse>();
  const waiting = new WeakMap<Socket, Exchange[]>();

  function start({ request, response }: Exchange): void {
    const { socket } = request;
    current.set(socket, response);
    const read = waitUntilRead(socket);
    if (read === null) {
      listener(request, response);
      return;
    }
    socket.pause();
    void read.then(() => {
      if (socket.destroyed) return;
      // The request may have a body, and a client that leaves must be noticed.
      if (!waiting.has(socket)) socket.resume();
      listener(request, response);
    });
  }

  function startNext(socket: Socket, queue: Exchange[]): void {
    const next = socket.destroyed || socket.writableEnded ? undefined : queue.shift();
    if (!next) {
      waiting.delete(socket);
      return void socket.resume();
    }
    next.response.once("close", () => startNext(socket, queue));
    // The last one that has arrived may have a body that has not.
    if (!next.request.complete) socket.resume();
    start(next);
  }

  function enqueue(exchange: Exchange, before: ServerResponse): void {
    const { socket } = exchange.request;
    const queue = waiting.get(socket);
    socket.pause();
    if (!queue) {
      const newQueue = [exchange];
      waiting.set(socket, newQueue);
      before.once("close", () => startNext(socket, newQueue));
    } else if (queue.length < WAITING_MAX) {
      queue.push(exchange);
    } else {
      socket.destroy();
    }
  }

  return {
    listener(request, response) {
      const before = current.get(request.socket);
      // Without pipelining, which is the common case, this check is the whole cost.
      const isFree = before === undefined || before.writableFinished;
      if (isFree && !waiting.has(request.socket)) start({ request, response });
      else enqueue({ request, response }, before ?? response);
    },
    isIdle(socket) {
      const last = current.get(socket);
      // On a new connection a request may have begun to arrive.
      return last === undefined ? socket.bytesRead === 0 : last.writableFinished && !waiting.has(socket);
    },
  };
}

// Often enough that a shutdown is not felt to wait.
const IDLE_CHECK_MS = 20;

/**
 * Node calls this when the server closes. Its own version waits for connections on which nothing was ever requested,
 * and cuts off responses that are complete but not yet read.
 */
function closeIdleConnections(server: Server, isIdle: (socket: Socket) => boolean): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  let timer: NodeJS.Timeout | undefined;
  const close = () => {
    for (const socket of sockets) if (isIdle(socket)) socket.destroy();
  };
  server.once("close", () => clearInterval(timer));
  return () => {
    close();
    // Others become idle later, or were accepted just before the server stopped listening.
    if (sockets.size > 0) timer ??= setInterval(close, IDLE_CHECK_MS);
  };
}

// The interval in which Node checks for requests past their timeout; its default of 30 seconds would double the time
// they have.
const TIMEOUT_CHECK_MS = 5_000;

// Longer than the 60 seconds of common load balancers: the balancer must be the one to close an idle connection.
const KEEP_ALIVE_MS = 72_000;

export function createNodeServer(
  requestMsMax: number,
  handle: RequestListener,
  limits?: SlowReaderLimits,
): Server {
  const options = {
    // Node would reject a missing Host with an empty body; our guard rejects it with a JSON error.
    requireHostHeader: false,
    // Node swaps the two if headers have more time than the whole request, and a slow body would get a minute.
    requestTimeout: requestMsMax,
    headersTimeout: requestMsMax,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestMsMax),
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(options);
  const readers = new SlowReaders(server, limits);
  const { listener, isIdle } = serializeRequests(handle, (socket) => readers.waitUntilRead(socket));
  server.on("request", listener);
  server.closeIdleConnections = closeIdleConnections(server, isIdle);
  // Ignore unknown `Expect` values: Node's own 417 would bypass our headers.
  server.on("checkExpectation", listener);
  // Idle timeout: one request timeout to produce the response, one more for a reader that reads nothing at all.
  return server.setTimeout(2 * requestMsMax);
}

export type ConnectionLimitOptions = {
  /** In total; 0 means no limit. */
  readonly connectionsMax: number;
  /** Per client address; 0 means no limit, as it must be behind a proxy, which opens all connections. */
  readonly perClientMax: number;
  readonly log: Log;
  readonly repeatLimit: LogThrottle;
};

// For the database, nodes and files: without them no request on the open connections could be served.
const DESCRIPTORS_RESERVED = 64;

export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { connectionsMax, perClientMax } = options;
  const warn = createWarnings(options);
  const descriptorsMax = findUsableDescriptors();
  const counts = new ClientCounts();

  if (connectionsMax > 0) server.maxConnections = connectionsMax;
  server.on("drop", () => warn.connectionLimit(connectionsMax));
  server.on("connection", (socket: Socket) => {
    // The system assigns the lowest free number, so a high one means that almost all are taken. It must be noticed
    // here: once none is left, libuv accepts and closes connections without any event.
    if (descriptorsMax !== null && descriptorOf(socket) >= descriptorsMax) {
      warn.descriptorLimit(descriptorsMax);
      return void socket.destroy();
    }
    if (perClientMax === 0) return;
    const client = toClientId(socket.remoteAddress ?? "");
    const full = counts.findFull(client, perClientMax);
    counts.add(client);
    socket.once("close", () => counts.remove(client));
    if (full === null) return;
    warn.clientConnectionLimit(full.id, perClientMax);
    const fault = new Fault("RATE_LIMITED", `At most ${perClientMax} connections per client.`);
    // A new connection is possible as soon as another of this client ends.
    writeConnectionError(fault, socket, { "retry-after": "1" });
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    // A failure to listen is reported to the caller of listen.
    if (!server.listening) return;
    warn.acceptFailed(error.code ?? error.message);
  });
}

/** Under load each of these could repeat thousands of times a second. */
function createWarnings({ log, repeatLimit }: Pick<ConnectionLimitOptions, "log" | "repeatLimit">) {
  const report = (key: string, write: (fields: { readonly repeated: number | undefined }) => void) =>
    repeatLimit.report(key, (repeated) => write({ repeated: repeated || undefined }));
  return {
    connectionLimit: (connectionsMax: number) =>
      report("connection_limit", (repeats) =>
        log.warn(
          { component: "http", event: "connection_limit", connectionsMax, ...repeats },
          "Connection limit reached, connection closed",
        ),
      ),
    descriptorLimit: (descriptors: number) =>
      report("descriptor_limit", (repeats) =>
        log.warn(
          { component: "http", event: "descriptor_limit", descriptors, ...repeats },
          "File descriptors run out, connection closed",
        ),
      ),
    clientConnectionLimit: (client: string, perClientMax: number) =>
      report("client_connection_limit", (repeats) =>
        log.warn(
          { component: "http", event: "client_connection_limit", client, perClientMax, ...repeats },
          "Connection limit of a client reached, connection closed",
        ),
      ),
    acceptFailed: (code: string) =>
      report("accept_failed", (repeats) =>
        log.warn({ component: "http", event: "accept_failed", code, ...repeats }, "Connection not accepted"),
      ),
  };
}

/** How many descriptors connections may use; null if the system does not say how many there are. */
function findUsableDescriptors(): number | null {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "latin1");
  } catch {
    // Only Linux has this file.
    return null;
  }
  const soft = /^Max open files +([0-9]+)/m.exec(limits)?.[1];
  if (soft === undefined) return null;
  return Number(soft) - Math.min(DESCRIPTORS_RESERVED, Math.floor(Number(soft) / 4));
}
