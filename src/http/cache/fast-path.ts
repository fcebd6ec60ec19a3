// The quickest way to an answer: one that is kept is sent before the framework has woken up.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ObserveRequest } from "../metrics.ts";
import { type SerializedResponse, writeResponse } from "../response.ts";
import type { RequestGuard } from "../security/request-guard.ts";

/** What was answered to this very address, if that still holds. */
export type CachedResponseLookup = (address: string) => SerializedResponse | undefined;

export type FastPathOptions = {
  readonly guard: RequestGuard;
  readonly observeRequest: ObserveRequest;
  readonly isShuttingDown: () => boolean;
};

/** Answers whether it has answered; whoever is refused is left to the framework, which tells them so. */
export function sendCachedResponse(
  kept: CachedResponseLookup,
  request: IncomingMessage,
  response: ServerResponse,
  { guard, observeRequest: count, isShuttingDown: isLeaving }: FastPathOptions,
): boolean {
  if (request.method !== "GET") return false;
  const answer = kept(request.url ?? "");
  if (!answer) return false;
  const startedMs = performance.now();
  if (guard.check(request) !== null) return false;
  const status = writeResponse(answer, request, response, {
    requestId: randomUUID(),
    closeConnection: isLeaving(),
  });
  count(answer.route, status, performance.now() - startedMs);
  return true;
}
