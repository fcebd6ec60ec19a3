// JSON-RPC server: HTTP and WebSocket on one port.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { encodeRpcError, handleRpcMessage, type RpcHandler } from "./json-rpc.ts";
import { JSON_RPC_CODES, JsonRpcError } from "./json-rpc-error.ts";
import type { NotificationSink } from "./subscriptions.ts";

/** A scanner call carries 160 KB, and clients batch them: a hundred at once still fit. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Longer than clients keep idle connections, so that none is closed under a request just sent. */
const KEEP_ALIVE_MS = 65_000;

/** A subscriber this far behind is not reading; disconnecting it bounds the chain's memory. */
const SOCKET_BACKLOG_BYTES_MAX = 64 * 1024 * 1024;

/** Far above any local setup; stops a reconnect loop from using all file handles. */
const CONNECTIONS_MAX = 1_000;

/** Any page may connect unless the configuration rejects it: the keys are public and the money is not real. */
const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "600",
};

export type JsonRpcServerConfig = {
  readonly hostname: string;
  readonly port: number;
  /** One line for a human who opens the URL in a browser. */
  readonly greeting: string;
  readonly handle: (...request: [...Parameters<RpcHandler>, NotificationSink?]) => Promise<string>;
  readonly onDisconnect: (sink: NotificationSink) => Promise<void>;
  /** Why a request may not pass, or null; without it all requests pass. A WebSocket counts as POST. */
  readonly findForeignCaller?: (request: Pick<IncomingMessage, "method" | "headers">) => string | null;
};

export type JsonRpcServer = { readonly port: number; readonly close: () => Promise<void> };

export async function startJsonRpcServer(config: JsonRpcServerConfig): Promise<JsonRpcServer> {
  const server = createServer((request, response) => {
    handleHttp(config, request, response).catch((error: unknown) => {
      // Reaches no client that disconnected in the middle of its body, and need not.
      reply(response, 500, encodeRpcError(null, error));
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = CONNECTIONS_MAX;
  const sockets = new WebSocketServer({
    server,
    maxPayload: BODY_BYTES_MAX,
    perMessageDeflate: false,
    verifyClient: ({ req: { headers } }: { readonly req: IncomingMessage }) =>
      (config.findForeignCaller?.({ method: "POST", headers }) ?? null) === null,
  });
  sockets.on("connection", (socket) => handleSocket(config, socket));

  await new Promise<void>((resolve, reject) => {
    // The socket server repeats the HTTP server's errors and would throw them without a listener.
    sockets.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(config, error)));
    server.listen(config.port, config.hostname, resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sockets.close();
      for (const socket of sockets.clients) socket.close(1001, "The local chain is stopping");
      server.closeAllConnections();
      // A peer that ignores the close frame must not delay the stop.
      for (const socket of sockets.clients) socket.terminate();
      await closed;
    },
  };
}

async function handleHttp(
  config: JsonRpcServerConfig,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const problem = config.findForeignCaller?.(request) ?? null;
  if (problem !== null) return reply(response, 403, `${problem}\n`, "text/plain; charset=utf-8");
  if (request.method === "OPTIONS") return reply(response, 204);
  if (request.method === "GET") {
    if (request.url !== "/") return reply(response, 404, "Not found\n", "text/plain; charset=utf-8");
    return reply(response, 200, `${config.greeting}\n`, "text/plain; charset=utf-8");
  }
  if (request.method !== "POST") {
    response.setHeader("allow", "POST, GET, OPTIONS");
    return reply(response, 405, "Only POST carries JSON-RPC\n", "text/plain; charset=utf-8");
  }
  const body = await readBody(request);
  if (body === undefined) {
    const error = new JsonRpcError(
      JSON_RPC_CODES.invalidRequest,
      `The body is larger than ${BODY_BYTES_MAX} bytes`,
    );
    response.setHeader("connection", "close");
    return reply(response, 413, encodeRpcError(null, error));
  }
  const text = await handleRpcMessage(body, (method, params) => config.handle(method, params));
  reply(response, text === undefined ? 204 : 200, text);
}

/** Undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Read on and discard: most clients read the response only after sending the whole body.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks).toString("utf8");
}

function reply(response: ServerResponse, status: number, body = "", contentType = "application/json"): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(body);
  const entity = status === 204 ? {} : { "content-type": contentType, "content-length": bytes.length };
  response.writeHead(status, { ...CORS_HEADERS, ...entity }).end(bytes);
}

function handleSocket(config: JsonRpcServerConfig, socket: WebSocket): void {
  const send: NotificationSink = (message) => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > SOCKET_BACKLOG_BYTES_MAX) return socket.terminate();
    socket.send(message);
  };
  const onMessage = async (data: RawData) => {
    const text = await handleRpcMessage(data.toString(), (method, params) =>
      config.handle(method, params, send),
    );
    if (text !== undefined) send(text);
  };
  socket.on("message", (data) => void onMessage(data));
  socket.on("close", () => void config.onDisconnect(send));
  // Protocol violations and oversized frames: the library closes the socket.
  socket.on("error", () => socket.terminate());
}

function toListenError({ hostname, port }: JsonRpcServerConfig, error: NodeJS.ErrnoException): Error {
  const reason =
    error.code === "EADDRINUSE"
      ? `Port ${port} on ${hostname} is already in use`
      : `Cannot listen on ${hostname}:${port} (${error.code ?? error.message})`;
  return new Error(reason, { cause: error });
}
