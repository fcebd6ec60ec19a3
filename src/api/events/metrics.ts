// Prometheus metrics of event streams: how many are open, what they were sent, and how old it was.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "../../lib/clock.ts";

export type EventMetrics = {
  /** `count` is called when metrics are collected. */
  observeStreams(count: () => { readonly live: number; readonly behind: number }): void;
  onSent(events: number): void;
  /** The tail has delivered the block of this time, in unix seconds. */
  onDelivered(timestamp: number): void;
  onCut(): void;
};

export function createEventMetrics(registry: Registry, clock: Clock): EventMetrics {
  const registers = [registry];
  const sent = new Counter({
    name: "sextant_events_sent_total",
    help: "Events sent to event streams, counted once for each stream.",
    registers,
  });
  const cut = new Counter({
    name: "sextant_event_streams_cut_total",
    help: "Event streams closed because their client read nothing for too long.",
    registers,
  });
  const lag = new Gauge({
    name: "sextant_event_lag_seconds",
    help: "Age of the newest block when its events were delivered to the streams that have caught up.",
    registers,
  });
  return {
    observeStreams(count) {
      new Gauge({
        name: "sextant_event_streams",
        help: "Open event streams: live ones have caught up, those behind read history.",
        labelNames: ["state"],
        registers,
        collect() {
          const { live, behind } = count();
          this.set({ state: "live" }, live);
          this.set({ state: "behind" }, behind);
        },
      });
    },
    onSent: (events) => sent.inc(events),
    onDelivered: (timestamp) => lag.set(Math.max(0, clock.nowMs() / 1_000 - timestamp)),
    onCut: () => cut.inc(),
  };
}
