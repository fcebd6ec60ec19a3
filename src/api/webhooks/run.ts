// Delivery in this process: takes webhooks that are due, shares them with other processes, and wakes up with the index.
import { Registry } from "prom-client";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { createLogThrottle, type Log } from "../../lib/log.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { ReadEvents } from "../events/read-events.ts";
import { type DeliverOptions, deliver, endFailedClaim } from "./deliver.ts";
import { findNext, sharePages } from "./look.ts";
import { createWebhookMetrics } from "./metrics.ts";
import { type Claim, WebhookRows } from "./rows.ts";
import { REQUEST_MS_MAX, type SendWebhook } from "./send.ts";

export type WebhookDelivery = {
  /** The index or a webhook has changed. */
  onChange(): void;
  /** Ends requests in flight: the next process sends their messages again. */
  close(): Promise<void>;
};

export type WebhookTiming = {
  /** The pause between two reads if no notification arrives. */
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly spacingMs: number;
  /** Between two counts for metrics. */
  readonly countMs: number;
};

const TIMING: WebhookTiming = {
  pollMs: 1_000,
  // A request and the statement after it. A process that was killed is replaced after this time.
  leaseMs: REQUEST_MS_MAX + 5_000,
  // Twenty messages a second: more than a chain emits for one owner, and no burden for a server that did not ask for them.
  spacingMs: 50,
  countMs: 10_000,
};

type WebhookDeliveryOptions = {
  readonly database: Database;
  readonly readEvents: ReadEvents;
  readonly send: SendWebhook;
  readonly log: Log;
  readonly registry?: Registry;
  readonly clock?: Clock;
  readonly timing?: Partial<WebhookTiming>;
};

// One for each webhook that the settings and the operator's file allow: a slow receiver takes no other's slot.
const DELIVERIES_MAX = 1_100;
// Taken at once, and looked at together.
const BATCH_MAX = 50;
// All webhooks are one client of the reader, however many are registered: other readers of history keep their share.
const HISTORY_READS_MAX = 2;
// At some 10 ms for each, the last one has its turn long before its lease ends.
const HISTORY_WAITING_MAX = 100;

export function startWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { database, clock = systemClock, log } = options;
  const timing = { ...TIMING, ...options.timing };
  const stopping = new AbortController();
  const repeatLimit = createLogThrottle();
  const { leaseMs } = timing;
  const rows = new WebhookRows({ database, clock, leaseMs, requestMsMax: REQUEST_MS_MAX });
  const metrics = createWebhookMetrics(options.registry ?? new Registry());
  const loop = new DeliveryLoop(
    {
      rows,
      metrics,
      clock,
      log,
      repeatLimit,
      history: createConcurrencyLimit({ runningMax: HISTORY_READS_MAX, waitingMax: DELIVERIES_MAX }),
      readEvents: options.readEvents,
      send: options.send,
      spacingMs: timing.spacingMs,
      stop: stopping.signal,
    },
    timing.pollMs,
  );
  const count = () =>
    Promise.all([rows.countByState(), rows.readLags()]).then(metrics.observe, (err) =>
      log.debug({ component: "api", event: "webhook_count_failed", err }, "Webhooks could not be counted"),
    );
  const counting = setInterval(count, timing.countMs);
  const running = loop.run();
  return {
    onChange: () => loop.wake(),
    async close() {
      clearInterval(counting);
      stopping.abort(new Error("the process shuts down"));
      loop.wake();
      await running;
      repeatLimit.close();
    },
  };
}

class DeliveryLoop {
  readonly #options: DeliverOptions;
  readonly #pollMs: number;
  readonly #running = new Set<Promise<void>>();
  #wake: () => void = () => undefined;
  #isAwake = false;

  constructor(options: DeliverOptions, pollMs: number) {
    this.#options = options;
    this.#pollMs = pollMs;
  }

  wake(): void {
    this.#isAwake = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { rows, stop, log, repeatLimit } = this.#options;
    while (!stop.aborted) {
      this.#isAwake = false;
      try {
        const head = await rows.readHead();
        while (head !== null && !stop.aborted && (await this.#takeBatch(head)));
      } catch (err) {
        repeatLimit.report("webhooks_failed", (repeated) =>
          log.warn(
            { component: "api", event: "webhooks_failed", err, repeated: repeated || undefined },
            "Looking for webhooks that are due failed, retrying",
          ),
        );
      }
      await this.#sleep();
    }
    await Promise.all(this.#running);
  }

  /** Whether there may be more. */
  async #takeBatch(head: string): Promise<boolean> {
    const max = Math.min(BATCH_MAX, DELIVERIES_MAX - this.#running.size);
    if (max <= 0) return false;
    const { rows, history } = this.#options;
    const claims = await rows.claimDue(head, { max, onlyCaughtUp: history.waiting >= HISTORY_WAITING_MAX });
    const caughtUp = claims.filter(({ webhook }) => webhook.isCaughtUp);
    // Webhooks with history to read must not delay the others.
    for (const claim of claims)
      if (!claim.webhook.isCaughtUp) this.#start(deliver(claim, head, this.#options));
    await this.#lookTogether(caughtUp, head);
    return claims.length === max;
  }

  /** Most have nothing to deliver at a new head: one read and one statement for all of them. */
  async #lookTogether(claims: readonly Claim[], head: string): Promise<void> {
    const pages = sharePages(claims);
    const quiet: { claim: Claim; position: string; head: string | null }[] = [];
    await Promise.all(
      claims.map(async (claim) => {
        try {
          const found = await findNext(claim, this.#options, pages);
          if (found?.kind === "nothing") {
            quiet.push({ claim, position: found.position, head: found.isCaughtUp ? head : null });
          } else if (found) {
            this.#start(deliver(found, head, this.#options));
          }
        } catch (error) {
          await endFailedClaim(claim, error, this.#options);
        }
      }),
    );
    await this.#options.rows.release(quiet);
  }

  #start(delivery: Promise<void>): void {
    const tracked = delivery.finally(() => {
      this.#running.delete(tracked);
      // It may have become due again at once: it has read a part of history, or the head has moved on.
      this.wake();
    });
    this.#running.add(tracked);
  }

  async #sleep(): Promise<void> {
    const { clock, stop } = this.#options;
    if (this.#isAwake || stop.aborted) return;
    const waking = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, clock.sleep(this.#pollMs, waking.signal).catch(() => undefined)]);
    waking.abort();
  }
}
