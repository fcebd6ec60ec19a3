// Fast path: serve cached responses before Fastify runs.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ObserveRequest } from "../metrics.ts";
import { type SerializedResponse, writeResponse } from "../response.ts";
import type { RequestGuard } from "../security/request-guard.ts";

/** The cached response to exactly this URL, if it is still valid. */
export type CachedResponseLookup = (url: string) => SerializedResponse | undefined;

export type FastPathOptions = {
  readonly guard: RequestGuard;
  readonly observeRequest: ObserveRequest;
  readonly isShuttingDown: () => boolean;
};

/** Returns whether it responded. A rejected request is left to Fastify, which sends the error. */
export function sendCachedResponse(
  lookup: CachedResponseLookup,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { guard, observeRequest, isShuttingDown }: FastPathOptions,
): boolean {
  if (incoming.method !== "GET") return false;
  const response = lookup(incoming.url ?? "");
  if (!response) return false;
  const startedMs = performance.now();
  if (guard.check(incoming) !== null) return false;
  const status = writeResponse(response, incoming, outgoing, {
    requestId: randomUUID(),
    closeConnection: isShuttingDown(),
  });
  observeRequest(response.route, status, performance.now() - startedMs);
  return true;
}
