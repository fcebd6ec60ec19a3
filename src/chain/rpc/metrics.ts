// Metrics of the calls to nodes, the same in every service.
import { Counter, Histogram, type Registry } from "prom-client";
import type { CallObserver } from "./types.ts";

/** Once per registry: all clients of a service share the observer. */
export function createRpcMetrics(registry: Registry): CallObserver {
  const registers = [registry];
  const calls = new Counter({
    name: "sextant_rpc_calls_total",
    help: "Calls to nodes by provider, method and outcome",
    labelNames: ["provider", "method", "outcome"] as const,
    registers,
  });
  const seconds = new Histogram({
    name: "sextant_rpc_call_seconds",
    help: "Time of calls to nodes",
    labelNames: ["provider"] as const,
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  });
  return ({ provider, method, outcome, ms }) => {
    calls.inc({ provider, method, outcome });
    seconds.observe({ provider }, ms / 1000);
  };
}
