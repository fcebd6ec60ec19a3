// What every request must pass before anything is done for it: one version, one Host, and limits per client.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { createRateLimiter, toClientId } from "./rate-limit.ts";

export type RequestRejection = { readonly fault: Fault; readonly headers: Readonly<Record<string, string>> };

export type RequestGuard = {
  /** Counts the request and the body it announces, the largest where it announces no length; null when it is welcome. */
  check(request: IncomingMessage): RequestRejection | null;
  /** Gives back what was counted too much for a body of unannounced length, now that it is known. */
  recordBodySize(request: IncomingMessage, bytes: number): void;
  /** Which client sent it: the one that limits count it for. */
  identifyClient(request: IncomingMessage): string;
};

export type RequestGuardOptions = {
  /** Per client; 0 is no limit. */
  readonly requestsPerMinuteMax: number;
  /** Bytes of request bodies per client; 0 is no limit. */
  readonly bodyBytesPerMinuteMax: number;
  /** More than this is rejected unread, and therefore not counted. */
  readonly bodyBytesMax: number;
  /** How many proxies in front of us may say whom they speak for; 0 trusts none. */
  readonly trustedProxies: number;
  readonly clock: Clock;
};

// Probes have a minute of their own, so that visitors behind the same address can not make them fail.
const PROBES: ReadonlySet<string | undefined> = new Set(["/health", "/ready", "/metrics"]);

export function createRequestGuard(options: RequestGuardOptions): RequestGuard {
  const {
    requestsPerMinuteMax,
    bodyBytesPerMinuteMax,
    bodyBytesMax,
    trustedProxies: proxies,
    clock,
  } = options;
  const limitOf = (perMinute: number) => (perMinute > 0 ? createRateLimiter({ perMinute, clock }) : null);
  const requests = limitOf(requestsPerMinuteMax);
  const bytes = limitOf(bodyBytesPerMinuteMax);
  const clientOfRequest = (request: IncomingMessage) => toClientId(addressOf(request, proxies));
  return {
    identifyClient: clientOfRequest,
    check(request) {
      const client = requests === null && bytes === null ? "" : clientOfRequest(request);
      // Before anything else: a request that is refused for its form has cost as much to receive.
      const earlyMs = requests?.take(PROBES.has(request.url) ? `probe ${client}` : client) ?? 0;
      if (earlyMs > 0) {
        return tooMany(
          `There is a limit of ${requestsPerMinuteMax} requests per client and minute.`,
          earlyMs,
        );
      }
      const problem = malformation(request);
      if (problem !== null) return { fault: new Fault("INPUT_INVALID", problem), headers: {} };
      const announced = Math.min(Number(request.headers["content-length"] ?? 0), bodyBytesMax);
      const expected = isChunked(request) ? bodyBytesMax : announced;
      const bytesEarlyMs = expected > 0 ? (bytes?.take(client, expected) ?? 0) : 0;
      if (bytesEarlyMs === 0) return null;
      const sentence = `There is a limit of ${bodyBytesPerMinuteMax} bytes of request bodies per client and minute.`;
      return tooMany(sentence, bytesEarlyMs);
    },
    recordBodySize(request, length) {
      if (!isChunked(request)) return;
      bytes?.release(clientOfRequest(request), bodyBytesMax, length);
    },
  };
}

const isChunked = ({ headers }: IncomingMessage) => headers["transfer-encoding"] !== undefined;

function tooMany(sentence: string, earlyMs: number): RequestRejection {
  return {
    fault: new Fault("RATE_LIMITED", sentence),
    headers: {
      "retry-after": String(Math.ceil(earlyMs / 1_000)),
      // Whatever else waits on this connection is too early as well. A client that goes on regardless pays a handshake
      // for each attempt, and the rest of a body that we do not want is not read.
      connection: "close",
    },
  };
}

/** Why two readers could understand the request differently, or null. */
function malformation({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== "1.0" && httpVersion !== "1.1") return "A request must be of HTTP/1.1 or HTTP/1.0.";
  const hosts = hostsIn(rawHeaders);
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? "A request needs one Host header." : null;
}

// Node keeps the first of several and tells nobody; whatever stands in front of us may have gone by the last.
function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

// Longer than any address; what a client wrote there itself must not fill our memory.
const ADDRESS_LENGTH_MAX = 64;

/** Every proxy adds at the end whom it was asked by: so many steps back from us as there are proxies we trust. */
function addressOf({ socket, headers }: IncomingMessage, proxies: number): string {
  const near = socket.remoteAddress ?? "";
  const told = proxies > 0 ? headers["x-forwarded-for"] : undefined;
  if (told === undefined) return near;
  const hops = [told].flat().join(",").split(",");
  const address = hops.at(-Math.min(proxies, hops.length)) ?? near;
  return address.trim().slice(0, ADDRESS_LENGTH_MAX);
}
