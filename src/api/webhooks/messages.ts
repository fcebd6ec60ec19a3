// The messages of a webhook: what is sent, and the id by which a receiver recognises what it already has.
import { createHash } from "node:crypto";
import type { EventRecord, UndoRecord } from "../events/read-events.ts";

export type WebhookMessage = {
  /** The same for every attempt; of letters, digits, - and _, as signatures require. */
  readonly id: string;
  readonly body: string;
};

/** Whose message it is. The epoch grows with every undo and replay: what comes after is new, even if it was sent before. */
type MessageScope = { readonly id: string; readonly epoch: number };

/** The type of Standard Webhooks: what an event is, before its name. */
const TEST_TYPE = "webhook.test";
const UNDO_TYPE = "chain.undo";
const eventType = (name: string) => `event.${name}`;

export function createEventMessage(scope: MessageScope, record: EventRecord): WebhookMessage {
  return {
    id: messageId(scope, record.id),
    body: formatBody(eventType(record.type), Number(record.block_timestamp) * 1_000, record),
  };
}

/** There is one undo at most in an epoch. */
export function createUndoMessage(scope: MessageScope, undo: UndoRecord, decidedMs: number): WebhookMessage {
  return { id: messageId(scope, "undo"), body: formatBody(UNDO_TYPE, decidedMs, undo) };
}

export function createTestMessage(scope: MessageScope, nowMs: number): WebhookMessage {
  return {
    id: messageId(scope, `test ${nowMs}`),
    body: formatBody(TEST_TYPE, nowMs, { webhook_id: scope.id }),
  };
}

function formatBody(type: string, timestampMs: number, data: unknown): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}

function messageId({ id, epoch }: MessageScope, content: string): string {
  return `msg_${createHash("sha256").update(`${id} ${epoch} ${content}`).digest("base64url").slice(0, 32)}`;
}
