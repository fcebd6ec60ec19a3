// Node's own server under the framework, with the time that a request, an answer and an idle connection have.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";

// One request at a time per connection: the next one starts when the response before it has left the process.

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

// Browsers and our own clients pipeline nothing, and tools that do seldom go beyond this. A packet of 64 KiB can hold
// thousands of requests, each of which costs a few kilobytes before anything is done for it.
const WAITING_MAX = 128;

/**
 * Bounds what a connection can make us hold to one response. Node starts every request that it finds in a packet, so a
 * client could have thousands of responses made and read none of them.
 */
export function serializePipelinedRequests(listener: RequestListener): RequestListener {
  const current = new WeakMap<Socket, ServerResponse>();
  const waiting = new WeakMap<Socket, Exchange[]>();

  function start({ request, response }: Exchange): void {
    current.set(request.socket, response);
    listener(request, response);
  }

  function startNext(socket: Socket, queue: Exchange[]): void {
    const next = socket.destroyed || socket.writableEnded ? undefined : queue.shift();
    if (!next) return void waiting.delete(socket);
    next.response.once("close", () => startNext(socket, queue));
    start(next);
  }

  function wait(exchange: Exchange, before: ServerResponse): void {
    const { socket } = exchange.request;
    const queue = waiting.get(socket);
    if (!queue) {
      const begun = [exchange];
      waiting.set(socket, begun);
      before.once("close", () => startNext(socket, begun));
    } else if (queue.length < WAITING_MAX) {
      queue.push(exchange);
    } else {
      socket.destroy();
    }
  }

  return (request, response) => {
    const before = current.get(request.socket);
    // Where nothing is pipelined, which is nearly always, this comparison is all it costs.
    const isFree = before === undefined || before.writableFinished;
    if (isFree && !waiting.has(request.socket)) start({ request, response });
    else wait({ request, response }, before ?? response);
  };
}

// How late a request that does not arrive in time is noticed; Node's own half a minute would double the time it has.
const SLOW_CHECK_MS = 5_000;

// Longer than the minute that load balancers commonly keep a connection for: who closes first must not be us.
const KEEP_ALIVE_MS = 72_000;

export function createNodeServer(requestMsMax: number, handle: RequestListener): Server {
  const listener = serializePipelinedRequests(handle);
  const options = {
    // Node would refuse a missing Host with an empty body; we refuse it with ours.
    requireHostHeader: false,
    // Node trades the two where headers have more time than the whole, and a slow body would have a minute.
    requestTimeout: requestMsMax,
    headersTimeout: requestMsMax,
    connectionsCheckingInterval: Math.min(SLOW_CHECK_MS, requestMsMax),
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(options, listener);
  // What else somebody expects may be ignored; Node would refuse it past everything that every answer carries.
  server.on("checkExpectation", listener);
  // Nothing moves while an answer is made, which takes no longer than that; whoever then does not read it is left.
  return server.setTimeout(2 * requestMsMax);
}
