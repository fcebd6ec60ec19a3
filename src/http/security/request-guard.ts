// The checks that every request passes before any work is done: HTTP version, one Host, and limits per client.

import type { IncomingMessage } from "node:http";
import { listClientNetworks } from "../../lib/client-networks.ts";
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { FindForeignCaller } from "../../lib/local-callers.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { readClientAddress, toClientId } from "./client-address.ts";

type RequestRejection = { readonly fault: Fault; readonly headers: Readonly<Record<string, string>> };

export type RequestGuard = {
  /**
   * Counts the request and its announced body, or the largest body if it announces no length; null lets it pass. A
   * request that was rejected is rejected again without being counted: the fast path leaves its response to Fastify.
   */
  check(request: IncomingMessage): RequestRejection | null;
  /** Counts a request that this process makes for a client; null lets it pass. */
  count(client: string, bodyBytes: number): RequestRejection | null;
  /** Returns what `check` counted too much for a body of unannounced length. */
  recordBodySize(request: IncomingMessage, bytes: number): void;
  /** The client that the limits count the request for. */
  identifyClient(request: IncomingMessage): string;
};

type RequestGuardOptions = {
  /** Per client; 0 means no limit. */
  readonly requestsPerMinuteMax: number;
  /** Bytes of request bodies per client; 0 means no limit. */
  readonly bodyBytesPerMinuteMax: number;
  /** Larger bodies are rejected unread, so the excess does not count. */
  readonly bodyBytesMax: number;
  /** How many proxies in front of us set X-Forwarded-For; 0 trusts none. */
  readonly trustedProxies: number;
  /** Rejects pages of the web, on a local run; null serves all callers. */
  readonly findForeignCaller: FindForeignCaller | null;
  readonly clock: Clock;
};

// Probes have their own buckets, so that other requests from the same address cannot make them fail.
const PROBES: ReadonlySet<string | undefined> = new Set(["/health", "/ready", "/metrics"]);

export function createRequestGuard(options: RequestGuardOptions): RequestGuard {
  const { requestsPerMinuteMax, bodyBytesPerMinuteMax, bodyBytesMax, trustedProxies, clock } = options;
  const limiterOf = (perMinute: number) => (perMinute > 0 ? createRateLimiter({ perMinute, clock }) : null);
  const requests = limiterOf(requestsPerMinuteMax);
  const probes = limiterOf(requestsPerMinuteMax);
  const bytes = limiterOf(bodyBytesPerMinuteMax);
  const identifyClient = (request: IncomingMessage) => toClientId(readClientAddress(request, trustedProxies));
  const rejections = new WeakMap<IncomingMessage, RequestRejection>();

  const limitRequests = (limiter: RateLimiter | null, client: string): RequestRejection | null => {
    const earlyMs = limiter?.take(client) ?? 0;
    return earlyMs > 0
      ? rejectEarly(`At most ${requestsPerMinuteMax} requests per minute per client.`, earlyMs)
      : null;
  };
  const limitBytes = (client: string, expected: number): RequestRejection | null => {
    const earlyMs = expected > 0 ? (bytes?.take(client, expected) ?? 0) : 0;
    return earlyMs > 0
      ? rejectEarly(
          `At most ${bodyBytesPerMinuteMax} bytes of request bodies per minute per client.`,
          earlyMs,
        )
      : null;
  };

  function countRequest(request: IncomingMessage): RequestRejection | null {
    const client = requests === null && bytes === null ? "" : identifyClient(request);
    // First of all: a malformed request costs as much to receive as any other.
    const rejection = limitRequests(PROBES.has(request.url) ? probes : requests, client);
    if (rejection !== null) return rejection;
    const problem = findProtocolError(request) ?? options.findForeignCaller?.(request) ?? null;
    if (problem !== null) return { fault: new Fault("INPUT_INVALID", problem), headers: {} };
    const announced = Math.min(Number(request.headers["content-length"] ?? 0), bodyBytesMax);
    return limitBytes(client, isChunked(request) ? bodyBytesMax : announced);
  }

  return {
    identifyClient,
    check(request) {
      const known = rejections.get(request);
      if (known !== undefined) return known;
      const rejection = countRequest(request);
      if (rejection !== null) rejections.set(request, rejection);
      return rejection;
    },
    count: (client, bodyBytes) => limitRequests(requests, client) ?? limitBytes(client, bodyBytes),
    recordBodySize(request, length) {
      if (!isChunked(request)) return;
      bytes?.release(identifyClient(request), bodyBytesMax, length);
    },
  };
}

const isChunked = ({ headers }: IncomingMessage) => headers["transfer-encoding"] !== undefined;

function rejectEarly(message: string, earlyMs: number): RequestRejection {
  return {
    fault: new Fault("RATE_LIMITED", message),
    headers: {
      "retry-after": String(Math.ceil(earlyMs / 1_000)),
      // Further requests on this connection are too early as well. Closing it makes an impatient client pay a handshake
      // per attempt, and leaves the rest of an unwanted body unread.
      connection: "close",
    },
  };
}

/** Why another server might understand the request differently, or null. */
function findProtocolError({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== "1.0" && httpVersion !== "1.1") return "The request must use HTTP/1.1 or HTTP/1.0.";
  const hosts = countHosts(rawHeaders);
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? "A request needs one Host header." : null;
}

// Node silently keeps the first of several Host headers; a proxy in front of us may have routed by the last.
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/** A token bucket per client and minute, and per network around it: even refill, one number each, bounded memory. */
type RateLimiter = {
  /** Takes units, 1 by default; returns how many milliseconds too early the client is, 0 if it may proceed. */
  take(client: string, units?: number): number;
  /** Returns the units of `taken` that were not used. */
  release(client: string, taken: number, used: number): void;
};

const MINUTE_MS = 60_000;
// About eighteen megabytes. A client evicted by so many others starts with a full bucket again.
const CLIENTS_MAX = 100_000;

/** A client may use a whole minute at once; after that it gets a unit every `60 / perMinute` seconds. */
export function createRateLimiter(options: {
  readonly perMinute: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly clientsMax?: number;
}): RateLimiter {
  const { perMinute, clock, clientsMax = CLIENTS_MAX } = options;
  const interval = MINUTE_MS / perMinute;
  // When the bucket of each network will be full again.
  const fullAt = new LruMap<string, number>(clientsMax);

  // At most a minute ahead, even if the wall clock is set back.
  const fullAtOf = (network: string, now: number) =>
    Math.min(Math.max(fullAt.get(network) ?? now, now), now + MINUTE_MS);

  return {
    take(client, units = 1) {
      const now = clock.nowMs();
      // More units than a minute has cost a whole minute: otherwise they could never pass.
      const cost = interval * Math.min(units, perMinute);
      const networks = listClientNetworks(client);
      let earlyMs = Number.NEGATIVE_INFINITY;
      for (const { id, share } of networks)
        earlyMs = Math.max(earlyMs, fullAtOf(id, now) + cost / share - (now + MINUTE_MS));
      // Rounding errors of floats do not count as early.
      const isAllowed = earlyMs < 0.001;
      for (const { id, share } of networks)
        fullAt.set(id, fullAtOf(id, now) + (isAllowed ? cost / share : 0));
      return isAllowed ? 0 : earlyMs;
    },
    release(client, taken, used) {
      const unused = Math.min(taken, perMinute) - used;
      if (unused <= 0) return;
      const now = clock.nowMs();
      for (const { id, share } of listClientNetworks(client))
        fullAt.set(id, fullAtOf(id, now) - (interval * unused) / share);
    },
  };
}
