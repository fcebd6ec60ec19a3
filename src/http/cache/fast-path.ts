// The quickest way to an answer: one that is kept is sent before the framework has woken up.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CountRequest } from "../metrics.ts";
import { type Answer, sendAnswer } from "../response.ts";
import type { Guard } from "../security/request-guard.ts";

/** What was answered to this very address, if that still holds. */
export type KeptAnswer = (address: string) => Answer | undefined;

export type KeptAnswerOptions = {
  readonly guard: Guard;
  readonly count: CountRequest;
  readonly isLeaving: () => boolean;
};

/** Answers whether it has answered; whoever is refused is left to the framework, which tells them so. */
export function sendKept(
  kept: KeptAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  { guard, count, isLeaving }: KeptAnswerOptions,
): boolean {
  if (request.method !== "GET") return false;
  const answer = kept(request.url ?? "");
  if (!answer) return false;
  const startedMs = performance.now();
  if (guard.refusal(request) !== null) return false;
  const status = sendAnswer(answer, request, response, { id: randomUUID(), leaving: isLeaving() });
  count(answer.route, status, performance.now() - startedMs);
  return true;
}
