// Prometheus metrics of webhooks: how many there are, what became of their messages, and how far each is behind.
import { Counter, Gauge, type Registry } from "prom-client";
import type { WebhookCounts, WebhookLag } from "./rows.ts";

export type WebhookMetrics = {
  onAttempt(outcome: "delivered" | "failed" | "disabled"): void;
  /** Counted in the database from time to time, so that collecting needs none. */
  observe(observed: readonly [WebhookCounts, readonly WebhookLag[]]): void;
};

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: "sextant_webhook_attempts_total",
    help: "Attempts of this process to deliver a message: delivered, failed (retried later), or failed for good.",
    labelNames: ["outcome"],
    registers,
  });
  const webhooks = new Gauge({
    name: "sextant_webhooks",
    help: "Webhooks of all processes, by status; pending ones are active and have a message that is not delivered.",
    labelNames: ["status"],
    registers,
  });
  // Labelled by id: there are no more than the limits of owners and of the operator's file allow.
  const labelNames = ["webhook"];
  const blocks = new Gauge({
    name: "sextant_webhook_lag_blocks",
    help: "Blocks that an active webhook is behind the newest one that its finality lets it have.",
    labelNames,
    registers,
  });
  const seconds = new Gauge({
    name: "sextant_webhook_lag_seconds",
    help: "The same in the chain's time: from the first block that it does not have to the newest it may have.",
    labelNames,
    registers,
  });
  return {
    onAttempt: (outcome) => attempts.inc({ outcome }),
    observe([{ active, paused, disabled, pending }, lags]) {
      for (const [status, count] of Object.entries({ active, paused, disabled, pending })) {
        webhooks.set({ status }, count);
      }
      // Webhooks that are paused, disabled or deleted by now have none.
      blocks.reset();
      seconds.reset();
      for (const { webhook, ...lag } of lags) {
        blocks.set({ webhook }, lag.blocks);
        seconds.set({ webhook }, lag.seconds);
      }
    },
  };
}
