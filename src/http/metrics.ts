// Requests by route and status, and how long answers take, for whoever watches a service.
import { Counter, Histogram, type Registry } from "prom-client";

// From a kept answer to a snapshot over slow nodes.
const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30];

export type ObserveRequest = (route: string, status: number, ms: number) => void;

/** What counts requests in the registry. */
export function createRequestMetrics(registry: Registry): ObserveRequest {
  // Counted in a plain map: labels are only put together when somebody looks.
  const counts = new Map<string, Map<number, number>>();
  new Counter({
    name: "sextant_http_requests_total",
    help: "Requests answered, by route and status; paths that are no route count as one.",
    labelNames: ["route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, byStatus] of counts) {
        for (const [status, count] of byStatus) this.inc({ route, status }, count);
      }
    },
  });
  const seconds = new Histogram({
    name: "sextant_http_request_seconds",
    help: "Time from a request's head to the end of its answer.",
    buckets: SECONDS,
    registers: [registry],
  });
  return (route, status, ms) => {
    let byStatus = counts.get(route);
    if (!byStatus) {
      byStatus = new Map();
      counts.set(route, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    seconds.observe(ms / 1_000);
  };
}
