// Security headers of every response, and CORS.
import type { FastifyInstance, FastifyReply } from "fastify";
import type { RequestGuard } from "./request-guard.ts";

/** No response is meant to be rendered, framed or sniffed; the pages we serve override this. */
export const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // Default to no-store: a 404 is heuristically cacheable. Cacheable responses override this.
  "cache-control": "no-store",
  // The data is public, and there is no cookie or credential that another origin could misuse.
  "access-control-allow-origin": "*",
  // Listed alongside the star: some clients read the star as a literal header name.
  "access-control-expose-headers":
    "*, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Block-Number, X-Error-Code, X-Indexed-Block, X-Request-Id",
};

// One day; browsers cap it themselves.
const PREFLIGHT_SECONDS = "86400";

/** Responds to the CORS preflight of a browser. */
export function sendPreflightResponse(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  const allowed = [...methods, "OPTIONS"].join(", ");
  return reply
    .code(204)
    .headers({
      allow: allowed,
      "access-control-allow-methods": allowed,
      "access-control-allow-headers":
        "*, Content-Type, X-Min-Block, PAYMENT-SIGNATURE, Access-Control-Expose-Headers",
      "access-control-max-age": PREFLIGHT_SECONDS,
    })
    .send();
}

const DEFAULT_ENTRIES = Object.entries(DEFAULT_HEADERS);

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
