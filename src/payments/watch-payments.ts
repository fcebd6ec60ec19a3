// The work of a service that sells, besides its requests: it counts payments, and reconciles those of unknown outcome.
import { Counter, type Registry } from "prom-client";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Gate } from "./paywall/gate.ts";
import type { PaymentOutcome } from "./paywall/offer.ts";

// A few blocks on most chains: a client that retries finds its response, and the ledger stays up to date.
const RECONCILE_MS = 5_000;

export function startReconciling(reconcile: Gate["reconcile"], log: Log): { close(): Promise<void> } {
  const shutdown = new AbortController();
  const warn = (err: unknown) =>
    log.warn(
      { component: "payments", event: "payment_reconciliation_failed", err },
      "Payment reconciliation failed, retrying",
    );
  const running = (async () => {
    while (!shutdown.signal.aborted) {
      await reconcile(shutdown.signal).catch(warn);
      await systemClock.sleep(RECONCILE_MS, shutdown.signal).catch(() => undefined);
    }
  })();
  return {
    async close() {
      shutdown.abort();
      await running;
    },
  };
}

/** Counts payments by outcome, for monitoring. */
export function countPaymentOutcomes(registry: Registry): (outcome: PaymentOutcome) => void {
  const counter = new Counter({
    name: "sextant_payments_total",
    help: "Requests to paid routes by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => counter.inc({ outcome });
}
