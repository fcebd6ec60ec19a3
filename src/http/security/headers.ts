// What every answer carries, whatever the route: headers, and what foreign pages may do.
import type { FastifyInstance, FastifyReply } from "fastify";
import type { RequestGuard } from "./request-guard.ts";

/** Nothing we answer is meant to be shown, framed or sniffed as a page; the one page we have says otherwise itself. */
export const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
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
export function sendPreflightResponse(reply: FastifyReply, methods: readonly string[]): FastifyReply {
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

const SAFE_ENTRIES = Object.entries(DEFAULT_HEADERS);

/** Must be added before the first route. With callbacks: every request passes here, and promises would be felt. */
export function addSecurityHooks(app: FastifyInstance, guard: RequestGuard): void {
  app.addHook("onRequest", (request, reply, done) => {
    const refusal = guard.check(request.raw);
    if (refusal === null) return done();
    reply.headers(refusal.headers);
    done(refusal.fault);
  });
  app.addHook("preHandler", (request, _reply, done) => {
    if (Buffer.isBuffer(request.body)) guard.recordBodySize(request.raw, request.body.length);
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    for (const [name, value] of SAFE_ENTRIES) if (!reply.hasHeader(name)) reply.header(name, value);
    reply.header("x-request-id", request.id);
    done();
  });
}
