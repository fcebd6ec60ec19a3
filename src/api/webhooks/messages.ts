// The messages of a webhook: what is sent, and the id by which a receiver recognises what it already has.
import { createHash } from "node:crypto";
import { stringifyVisibly } from "../../lib/foreign-text.ts";
import type { EventRecord, UndoRecord } from "../../protocol/event-page.ts";

export type WebhookMessage = {
  /** The same for every attempt; of letters, digits, - and _, as signatures require. */
  readonly id: string;
  readonly body: string;
};

/**
 * Identifies the message. The epoch grows with every undo: an event that was undone is another message if it comes
 * back.
 */
type MessageScope = { readonly id: string; readonly epoch: number };

/** The undos of a webhook that decide epochs, in order: each with the last block that it left. */
export type UndoneBlocks = readonly { readonly block: number; readonly epoch: number }[];

// At a reorg a day, a season. The list is read with every message.
const UNDOS_MAX = 100;

/** An undo replaces earlier undos at or above its block. */
export function addUndo(undos: UndoneBlocks, block: number, epoch: number): UndoneBlocks {
  const added = [...undos.filter((each) => each.block < block), { block, epoch }];
  const [first, second, ...rest] = added;
  if (added.length <= UNDOS_MAX || !first || !second) return added;
  // Events between the two get ids that they never had: a replay delivers them twice rather than not at all.
  return [{ block: first.block, epoch: second.epoch }, ...rest];
}

/** The last undo that removed events of this block; 0 without one. */
function epochOf(undos: UndoneBlocks, block: number): number {
  return undos.findLast((each) => each.block < block)?.epoch ?? 0;
}

/** The type of Standard Webhooks: what an event is, before its name. */
const TEST_TYPE = "webhook.test";
const CHALLENGE_TYPE = "webhook.challenge";
const UNDO_TYPE = "chain.undo";
const eventType = (name: string) => `event.${name}`;

export function createEventMessage(
  { id, undos }: { readonly id: string; readonly undos: UndoneBlocks },
  record: EventRecord,
): WebhookMessage {
  const epoch = epochOf(undos, Number(record.block_number));
  return {
    id: messageId({ id, epoch }, record.id),
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

export function createChallengeMessage(
  { id }: { readonly id: string },
  challenge: string,
  nowMs: number,
): WebhookMessage {
  return {
    id: messageId({ id, epoch: 0 }, `challenge ${challenge}`),
    body: formatBody(CHALLENGE_TYPE, nowMs, { webhook_id: id, challenge }),
  };
}

function formatBody(type: string, timestampMs: number, data: unknown): string {
  // The signature covers these bytes, so that nothing may escape them later.
  return stringifyVisibly({ type, timestamp: new Date(timestampMs).toISOString(), data });
}

function messageId({ id, epoch }: MessageScope, content: string): string {
  return `msg_${createHash("sha256").update(`${id} ${epoch} ${content}`).digest("base64url").slice(0, 32)}`;
}
