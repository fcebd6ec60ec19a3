// Delivers to one webhook, in order and one message at a time, until it has everything, fails, or is taken away.
import type { Clock } from "../../lib/clock.ts";
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { publicMessage, toFault } from "../../lib/fault.ts";
import type { Log, LogThrottle } from "../../lib/log.ts";
import type { EventRecord } from "../../protocol/event-page.ts";
import type { ReadEvents } from "../events/read-events.ts";
import { type Found, findNext, reachWith } from "./look.ts";
import { createEventMessage, createUndoMessage, type WebhookMessage } from "./messages.ts";
import type { WebhookMetrics } from "./metrics.ts";
import { type Claim, NEAR_HEAD, type WebhookRows } from "./rows.ts";
import type { Attempt, SendWebhook } from "./send.ts";

export type DeliverOptions = {
  readonly rows: WebhookRows;
  readonly readEvents: ReadEvents;
  readonly history: ConcurrencyLimit;
  readonly send: SendWebhook;
  readonly metrics: WebhookMetrics;
  readonly clock: Clock;
  /** Between two messages to the same webhook. */
  readonly spacingMs: number;
  readonly log: Log;
  readonly repeatLimit: LogThrottle;
  readonly stop: AbortSignal;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** After each failed attempt, as the specification lists them: ten attempts in 75 hours. */
export const RETRY_MS: readonly number[] = [
  ...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
// Receivers that failed together must not be tried together.
const JITTER_RATIO = 0.1;
// The longest wait that a receiver may request with Retry-After.
const RETRY_AFTER_MS_MAX = 24 * HOUR_MS;
/** Ends the claim. `head` is the head of the index before the claim. */
export async function deliver(first: Found | Claim, head: string, options: DeliverOptions): Promise<void> {
  let claim = "kind" in first ? first.claim : first;
  let found = "kind" in first ? first : null;
  // Webhooks near the head share pages; they do not wait behind readers of history.
  const isNearHead = found !== null;
  const paced: PacedOptions = { ...options, pace: { hasSent: false } };
  try {
    while (!options.stop.aborted) {
      found ??= await findNext(claim, options, null);
      if (found === null) return;
      if (found.kind === "nothing") {
        const { position, isCaughtUp } = found;
        await keepDistance(paced);
        return await options.rows.release([{ claim: found.claim, position, head: isCaughtUp ? head : null }]);
      }
      const next =
        found.kind === "undo"
          ? await deliverUndo(found.claim, paced)
          : await deliverEvents(found.claim, found.events, paced);
      if (next === null) return;
      if (next.webhook.status !== "active") return await releaseAt(next, options);
      if (isNearHead) {
        await keepDistance(paced);
        return await options.rows.release([{ claim: next, position: null, head: NEAR_HEAD }]);
      }
      claim = next;
      found = null;
    }
    await releaseAt(claim, options);
  } catch (error) {
    await endFailedClaim(claim, error, options);
  }
}

type PacedOptions = DeliverOptions & { readonly pace: { hasSent: boolean } };

/** After a message: the next one may come at once, also by another claim. */
async function keepDistance({ clock, pace, spacingMs, stop }: PacedOptions): Promise<void> {
  if (pace.hasSent) await clock.sleep(spacingMs, stop);
}

/** Null if the claim has ended. */
async function deliverUndo(claim: Claim, options: PacedOptions): Promise<Claim | null> {
  const { webhook } = claim;
  if (webhook.undo === null) throw new Error("there is no undo to deliver");
  const { record, decidedMs } = webhook.undo;
  const isDelivered = await attempt(claim, createUndoMessage(webhook, record, decidedMs), options);
  return isDelivered ? await options.rows.completeUndo(claim) : null;
}

async function deliverEvents(
  first: Claim,
  events: readonly EventRecord[],
  options: PacedOptions,
): Promise<Claim | null> {
  const { rows, stop } = options;
  const [earliest] = events;
  if (!earliest) return first;
  let claim = await rows.begin(first, reachWith(first.webhook, earliest));
  for (const [index, event] of events.entries()) {
    if (claim === null || claim.webhook.status !== "active" || stop.aborted) return claim;
    const isDelivered = await attempt(claim, createEventMessage(claim.webhook, event), options);
    if (!isDelivered) return null;
    const next = events[index + 1];
    claim = await rows.advance(claim, event.cursor, next ? reachWith(claim.webhook, next) : null);
  }
  return claim;
}

/** Whether the receiver has the message. If not, the claim has ended. */
async function attempt(claim: Claim, message: WebhookMessage, options: PacedOptions): Promise<boolean> {
  const { rows, send, metrics, clock, stop, pace } = options;
  const { webhook } = claim;
  await keepDistance(options);
  pace.hasSent = true;
  // This process may have slept so long that another one delivers by now.
  if (performance.now() > claim.sendUntilMs && (await rows.renew(claim)) === null) return false;
  const result = await send(webhook, message, [stop]);
  if (result.isDelivered) {
    metrics.onAttempt("delivered");
    return true;
  }
  const failures = webhook.failures + 1;
  const disabledReason = reasonToDisable(result, failures);
  metrics.onAttempt(disabledReason === null ? "failed" : "disabled");
  report({ claim, result, failures, disabledReason }, options);
  const retryAtMs = clock.nowMs() + delayAfter(result, failures);
  await rows.fail(claim, { error: result.error, retryAtMs, disabledReason });
  return false;
}

type FailedAttempt = Extract<Attempt, { isDelivered: false }>;

function reasonToDisable({ status }: FailedAttempt, failures: number): string | null {
  if (status === 410) return "gone";
  return failures > RETRY_MS.length ? "failing" : null;
}

function delayAfter({ retryAfterMs }: FailedAttempt, failures: number): number {
  const listed = RETRY_MS[failures - 1] ?? 0;
  const delay = Math.max(listed, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX));
  return Math.round(delay * (1 + Math.random() * JITTER_RATIO));
}

function report(
  failed: {
    readonly claim: Claim;
    readonly result: FailedAttempt;
    readonly failures: number;
    readonly disabledReason: string | null;
  },
  { log, repeatLimit }: DeliverOptions,
): void {
  const { claim, result, failures, disabledReason } = failed;
  const { id: webhook, owner } = claim.webhook;
  const { status, error: problem } = result;
  if (disabledReason !== null) {
    log.warn(
      {
        component: "api",
        event: "webhook_disabled",
        webhook,
        owner,
        reason: disabledReason,
        status,
        problem,
      },
      "A webhook is disabled; its cursor is kept",
    );
    return;
  }
  repeatLimit.report(`webhook_failed ${webhook}`, (repeated) =>
    log.info(
      {
        component: "api",
        event: "webhook_failed",
        webhook,
        owner,
        failures,
        status,
        problem,
        repeated: repeated || undefined,
      },
      "A webhook did not take a message, retrying later",
    ),
  );
}

function releaseAt(claim: Claim, { rows }: DeliverOptions): Promise<void> {
  return rows.release([{ claim, position: null, head: null }]);
}

// Most failures are a database that restarts.
const READ_AGAIN_MS = 1_000;

/** The database or the reader failed, not the receiver; or the process ends. */
export async function endFailedClaim(claim: Claim, error: unknown, options: DeliverOptions): Promise<void> {
  const { rows, log, repeatLimit, stop, clock } = options;
  if (stop.aborted) return await releaseAt(claim, options).catch(() => undefined);
  repeatLimit.report("webhook_reads_failed", (repeated) =>
    log.warn(
      { component: "api", event: "webhook_reads_failed", err: error, repeated: repeated || undefined },
      "Reading events for a webhook failed",
    ),
  );
  const fault = toFault(error);
  const retryAtMs = clock.nowMs() + READ_AGAIN_MS;
  // A cursor of another deployment never becomes readable.
  const ended =
    fault.status < 500
      ? rows.fail(claim, { error: publicMessage(fault), retryAtMs, disabledReason: "position" })
      : rows.postpone(claim, retryAtMs);
  // A claim that cannot be ended ends by itself, with its lease.
  await ended.catch(() => undefined);
}
