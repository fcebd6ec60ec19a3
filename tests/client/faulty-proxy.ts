// A proxy in front of a service that loses requests and responses when a test wants it.
import { type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import { startLoopbackServer } from "../support/http/loopback-server.ts";

/**
 * The fate of a paid request: passed on; lost before the service sees it; the response is lost after the service has
 * settled; its body is cut; the proxy responds itself, as one that is busy, or as the service does to a request that is
 * wrong; it claims that a payment that has settled is rejected, or that it belongs to another request.
 */
export type ProxyFault =
  | "none"
  | "lose-request"
  | "lose-response"
  | "cut-body"
  | "unavailable"
  | "reject-request"
  | "claim-rejection"
  | "claim-conflict";

export type FaultyProxy = {
  readonly url: string;
  /** Asked for every paid request. */
  plan: () => ProxyFault;
  /** After the service has responded to a paid request, before the client gets it. */
  onSettled: () => void;
  stop(): Promise<void>;
};

/** Paid requests are those with a signature, unless a test knows better. */
export async function startFaultyProxy(
  upstream: string,
  isPaidRequest = (incoming: IncomingMessage) => incoming.headers["payment-signature"] !== undefined,
): Promise<FaultyProxy> {
  const target = new URL(upstream);
  const server = await startLoopbackServer((incoming, outgoing) => {
    const isPaid = isPaidRequest(incoming);
    const fault = isPaid ? proxy.plan() : "none";
    if (fault === "lose-request") return incoming.socket.destroy();
    if (fault === "unavailable") return outgoing.writeHead(503, { "retry-after": "0" }).end("busy");
    if (fault === "reject-request") {
      return outgoing
        .writeHead(400, { "x-error-code": "INPUT_INVALID" })
        .end('{"error":"A block is wrong."}');
    }
    const { method, url, headers } = incoming;
    const forwarded = sendRequest(
      {
        host: target.hostname,
        port: target.port,
        method,
        path: url,
        // One that the service has closed meanwhile would be a fault that no test asked for.
        agent: false,
        headers: { ...headers, host: target.host },
      },
      (response) => void passOn(response, incoming, outgoing, isPaid ? fault : null),
    );
    forwarded.on("error", () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  });
  const passOn = async (
    response: IncomingMessage,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    fault: ProxyFault | null,
  ) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (fault !== null && response.statusCode === 200) proxy.onSettled();
    if (fault === "lose-response") return incoming.socket.destroy();
    if (fault === "claim-rejection") return outgoing.writeHead(402).end("{}");
    if (fault === "claim-conflict") {
      return outgoing.writeHead(409, { "x-error-code": "PAYMENT_CONFLICT" }).end('{"error":"It is used."}');
    }
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    if (fault !== "cut-body") return outgoing.end(body);
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => incoming.socket.destroy());
  };
  const proxy: FaultyProxy = {
    url: server.url,
    plan: () => "none",
    onSettled: () => undefined,
    stop: server.stop,
  };
  return proxy;
}
