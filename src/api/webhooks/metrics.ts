// Prometheus metrics of webhooks: how many there are, what became of their messages, and how long the oldest waits.
import { Counter, Gauge, type Registry } from "prom-client";
import type { WebhookCounts } from "./rows.ts";

export type WebhookMetrics = {
  onAttempt(outcome: "delivered" | "failed" | "disabled"): void;
  /** Counted in the database from time to time, so that collecting needs none. */
  observe(counts: WebhookCounts): void;
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
  const lag = new Gauge({
    name: "sextant_webhook_lag_seconds",
    help: "Time since the first attempt of the oldest message that an active webhook has not taken yet.",
    registers,
  });
  return {
    onAttempt: (outcome) => attempts.inc({ outcome }),
    observe({ active, paused, disabled, pending, lag: seconds }) {
      for (const [status, count] of Object.entries({ active, paused, disabled, pending })) {
        webhooks.set({ status }, count);
      }
      lag.set(seconds);
    },
  };
}
