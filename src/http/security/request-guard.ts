// The checks that every request passes before any work is done: HTTP version, one Host, local callers, limits per client.
import type { IncomingMessage } from "node:http";
import { isIP, isIPv4, isIPv6 } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { listClientNetworks } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { DEFAULT_ENTRIES } from "../response.ts";

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

/** Must be added before the first route. Callbacks, because promises would be felt in hooks of every request. */
export function addSecurityHooks(app: FastifyInstance, guard: RequestGuard): void {
  app.addHook("onRequest", (request, reply, done) => {
    const rejection = guard.check(request.raw);
    if (rejection === null) return done();
    reply.headers(rejection.headers);
    done(rejection.fault);
  });
  app.addHook("preHandler", (request, _reply, done) => {
    if (Buffer.isBuffer(request.body)) guard.recordBodySize(request.raw, request.body.length);
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    for (const [name, value] of DEFAULT_ENTRIES) if (!reply.hasHeader(name)) reply.header(name, value);
    reply.header("x-request-id", request.id);
    done();
  });
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

declare module "fastify" {
  interface FastifyRequest {
    /** As the limits per client count it: an IPv4 address or an IPv6 network. */
    readonly client: string;
  }
}

/** Must be added before the first route. Computed on access: most requests need it only for their limit. */
export function addRequestClient(
  app: FastifyInstance,
  identifyClient: (request: IncomingMessage) => string,
): void {
  app.decorateRequest("client", {
    getter() {
      return identifyClient(this.raw);
    },
  });
}

// Longer than any address: what a client writes into the header must not fill our memory.
const ADDRESS_LENGTH_MAX = 64;

/**
 * The address a request comes from. Each proxy appends the address of its own client, so the one to trust is as many
 * steps from the end as there are trusted proxies.
 */
function readClientAddress({ socket, headers }: IncomingMessage, trustedProxies: number): string {
  const peer = socket.remoteAddress ?? "";
  const forwarded = trustedProxies > 0 ? headers["x-forwarded-for"] : undefined;
  if (forwarded === undefined) return peer;
  const hops = [forwarded].flat().join(",").split(",");
  const address = hops.at(-Math.min(trustedProxies, hops.length)) ?? peer;
  return address.trim().slice(0, ADDRESS_LENGTH_MAX);
}

/**
 * One client is an IPv4 address, or the 64-bit network that an IPv6 customer has to itself. Proxies write addresses with
 * brackets, ports and in the IPv4-mapped form; everything that is not an address counts as one client.
 */
export function toClientId(text: string): string {
  if (isIPv4(text)) return text;
  const address = stripAddress(text.trim());
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return "unknown";
  const groups = parseIpv6Groups(address);
  const [, , , , , sixth, high = 0, low = 0] = groups;
  const isMapped = sixth === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Without the port, the brackets and the zone. */
function stripAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(text)?.[1];
  const withPort = /^([0-9.]+):[0-9]*$/.exec(text)?.[1];
  const [address = ""] = (bracketed ?? withPort ?? text).split("%", 1);
  return address;
}

function parseIpv6Groups(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const left = parseGroups(head);
  const right = parseGroups(tail ?? "");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...zeros, ...right];
}

function parseGroups(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

type Caller = {
  readonly method?: string | undefined;
  readonly headers: { readonly host?: string | undefined; readonly origin?: string | undefined };
};

/** Why a request may not pass; null lets it pass. */
export type FindForeignCaller = (request: Caller) => string | null;

const READING_METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);
const LOOPBACK = /^(localhost|.+\.localhost|127(\.[0-9]+){3}|\[::1\])$/;
// Wallets call a chain from their own pages.
const EXTENSION = /^[a-z-]+-extension:$/;

/**
 * A page of any site can send requests to this machine, with its Origin. It can also lead its own name here after it was
 * loaded, so that its requests have no other Origin than ours; its Host then is that name.
 */
export function createLocalCallers({ publicUrl }: { readonly publicUrl: string | null }): FindForeignCaller {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).hostname;
  const isOwnHost = (host: string) => host === publicHost || LOOPBACK.test(host) || isPrivateName(host);
  return ({ method, headers }) => {
    const host = parseHost(`http://${headers.host ?? ""}`);
    if (headers.host !== undefined && (host === null || !isOwnHost(host)))
      return `Host ${headers.host} is not a name of this machine; use 127.0.0.1, or set PUBLIC_BASE_URL.`;
    if (headers.origin === undefined || READING_METHODS.has(method)) return null;
    const origin = parseHost(headers.origin);
    const isOwnPage = origin !== null && (LOOPBACK.test(origin) || origin === host || origin === publicHost);
    if (isOwnPage || isExtension(headers.origin)) return null;
    return `Pages of ${headers.origin} may not write on a local chain; only pages of this machine may.`;
  };
}

/** Addresses, and names without a dot, cannot be led elsewhere by the owner of a site. */
function isPrivateName(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, "")) !== 0 || !host.includes(".");
}

function parseHost(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname || null : null;
}

function isExtension(origin: string): boolean {
  return URL.canParse(origin) && EXTENSION.test(new URL(origin).protocol);
}
