// Node's own server under the framework, with the time that a request, an answer and an idle connection have.
import { createServer, type RequestListener, type Server } from "node:http";
import { serializePipelinedRequests } from "./pipelining.ts";

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
