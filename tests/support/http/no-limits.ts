// The limits of an HTTP server that a test or a benchmark does not mean to meet.
import type { HttpServerOptions } from "../../../src/http/server.ts";

export const NO_LIMITS = {
  requestsPerMinuteMax: 0,
  bodyBytesPerMinuteMax: 0,
  connectionsMax: 0,
  connectionsPerClientMax: 0,
  trustedProxies: 0,
} satisfies Partial<HttpServerOptions>;
