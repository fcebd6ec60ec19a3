// Operations on webhooks that owners and the operator share: change them, and send a test.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import type { Finality } from "../../store/index/event-logs.ts";
import type { ReadEvents } from "../events/read-events.ts";
import type { ProveReceiver } from "./challenge.ts";
import { createTestMessage } from "./messages.ts";
import { resolveStart, type WebhookChange, type WebhookLimits } from "./records.ts";
import type { Webhook } from "./rows.ts";
import type { SendWebhook } from "./send.ts";
import type { WebhookSigner } from "./signing.ts";

export type WebhookService = {
  readonly signer: WebhookSigner;
  readonly send: SendWebhook;
  readonly prove: ProveReceiver;
  readonly readEvents: ReadEvents;
  readonly network: PublicNetwork | null;
  readonly limits: WebhookLimits;
  readonly clock: Clock;
};

type RequestedChange = {
  readonly action: WebhookChange["action"];
  /** The begin of a replay. */
  readonly from: string | undefined;
  readonly finality: Finality;
};

/** Throws a Fault if the chain does not have the begin of a replay. */
export async function readChange(
  { action, from, finality }: RequestedChange,
  { readEvents }: WebhookService,
): Promise<WebhookChange> {
  if (action !== "replay") return { action };
  if (from === undefined)
    throw new Fault("INPUT_INVALID", "A replay needs from: a cursor, a block number or genesis.");
  return { action, position: await resolveStart(readEvents, from, finality) };
}

/** The outcome, as responses have it. */
export async function sendTest(webhook: Webhook, { send, clock }: WebhookService) {
  const result = await send(webhook, createTestMessage(webhook, clock.nowMs()));
  return {
    delivered: result.isDelivered,
    status: result.status,
    error: result.isDelivered ? null : result.error,
  };
}
