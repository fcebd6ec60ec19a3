// What every answer carries and every request must pass, whatever the route: headers, origins, and a limit per client.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../kit/clock.ts";
import { Fault } from "../kit/fault.ts";
import { clientOf, createClientLimit } from "./client-limit.ts";

/** Nothing we answer is meant to be shown, framed or sniffed as a page; the one page we have says otherwise itself. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // A cache may keep what nothing is said about, such as the word that there is no such record; what may be kept says so.
  "cache-control": "no-store",
  // The data is public, and no cookie or credential of ours exists that a foreign page could misuse.
  "access-control-allow-origin": "*",
  // By name beside the star: some clients take the star for a header of that name.
  "access-control-expose-headers":
    "*, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Error-Code, X-Request-Id",
};

// A day, which browsers cut down to what they find reasonable.
const ORIGIN_SECONDS = "86400";

/** What a browser asks before it sends a request from another page. */
export function answerOptions(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  const allowed = [...methods, "OPTIONS"].join(", ");
  return reply
    .code(204)
    .headers({
      allow: allowed,
      "access-control-allow-methods": allowed,
      "access-control-allow-headers": "*, Content-Type, PAYMENT-SIGNATURE, Access-Control-Expose-Headers",
      "access-control-max-age": ORIGIN_SECONDS,
    })
    .send();
}

// Probes have a minute of their own, so that visitors behind the same address can not make them fail.
const PROBES = new Set(["/health", "/ready", "/metrics"]);

/** Must be added before the first route. */
export function addProtections(
  app: FastifyInstance,
  options: { readonly requestsPerMinuteMax: number; readonly clock: Clock },
): void {
  const { requestsPerMinuteMax: perMinute, clock } = options;
  const limit = perMinute > 0 ? createClientLimit({ perMinute, clock }) : null;
  const refusal = (request: FastifyRequest, reply: FastifyReply): Fault | undefined => {
    const { httpVersion, rawHeaders } = request.raw;
    if (httpVersion !== "1.0" && httpVersion !== "1.1") {
      return new Fault("INPUT_INVALID", "A request must be of HTTP/1.1 or HTTP/1.0.");
    }
    const hosts = hostsIn(rawHeaders);
    if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
      return new Fault("INPUT_INVALID", "A request needs one Host header.");
    }
    if (limit === null) return undefined;
    const client = clientOf(request.ip);
    const earlyMs = limit.take(PROBES.has(request.url) ? `probe ${client}` : client);
    if (earlyMs === 0) return undefined;
    reply.header("retry-after", String(Math.ceil(earlyMs / 1_000)));
    return new Fault("RATE_LIMITED", `There is a limit of ${perMinute} requests per client and minute.`);
  };
  // With a callback: every request passes here, and a promise each would be felt.
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(SAFE_HEADERS).header("x-request-id", request.id);
    done(refusal(request, reply));
  });
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
