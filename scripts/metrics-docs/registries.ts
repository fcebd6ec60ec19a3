// The metrics of each process, from the registrations themselves.
import { Registry } from "prom-client";
import { createEventMetrics } from "../../src/api/events/streams.ts";
import { createReplicaMetrics } from "../../src/api/source-readers.ts";
import { createWebhookMetrics } from "../../src/api/webhooks/metrics.ts";
import { createRpcMetrics } from "../../src/chain/rpc/metrics.ts";
import { createRequestMetrics, openProcessMetrics } from "../../src/http/metrics.ts";
import { createIndexerStatus } from "../../src/indexer/status.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import { observeChannels } from "../../src/payments/channels/channel-metrics.ts";
import { countFacilitatorRequests } from "../../src/payments/facilitator/server.ts";
import { countPaymentOutcomes } from "../../src/payments/watch-payments.ts";

export const PROCESSES = ["indexer", "api", "webhooks", "portfolio", "facilitator"] as const;
export type ProcessName = (typeof PROCESSES)[number];

export type MetricDescription = {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  readonly processes: readonly ProcessName[];
};

/** Every metric of ours and those of Node, by name, in the order in which processes register them. */
export async function describeMetrics(): Promise<ReadonlyMap<string, MetricDescription>> {
  const found = new Map<string, MetricDescription>();
  for (const process of PROCESSES) {
    for (const registry of [REGISTRIES[process](), openProcessMetrics()]) {
      for (const metric of registry.getMetricsAsArray()) {
        const { name, help, type } = await (metric as unknown as Collected).get();
        const { labelNames: labels = [] } = metric as unknown as Collected;
        const processes = [...(found.get(name)?.processes ?? []), process];
        found.set(name, { name, type, help, labels, processes });
      }
    }
  }
  return found;
}

type Collected = {
  readonly labelNames?: readonly string[];
  get(): Promise<Pick<MetricDescription, "name" | "help" | "type">>;
};

const REGISTRIES: Readonly<Record<ProcessName, () => Registry>> = {
  indexer() {
    const log = createLog({ level: "silent", terminal: false, name: "metrics" });
    return createIndexerStatus(log, systemClock).registry;
  },
  api: () =>
    register((registry) => {
      createRequestMetrics(registry);
      createRpcMetrics(registry);
      createEventMetrics(registry, systemClock).observeStreams(() => ({ live: 0, behind: 0 }));
      createReplicaMetrics(registry).observeReplicas([]);
      createWebhookMetrics(registry);
    }),
  webhooks: () =>
    register((registry) => {
      createRequestMetrics(registry);
      createWebhookMetrics(registry);
    }),
  portfolio: () =>
    register((registry) => {
      createRequestMetrics(registry);
      createRpcMetrics(registry);
      countPaymentOutcomes(registry);
      observeChannels(
        registry,
        { readTotals: () => Promise.reject(new Error("metrics are described without a database")) },
        { decimals: 6, log: createLog({ level: "silent", terminal: false, name: "metrics" }) },
      );
    }),
  facilitator: () =>
    register((registry) => {
      createRequestMetrics(registry);
      createRpcMetrics(registry);
      countFacilitatorRequests(registry);
    }),
};

function register(add: (registry: Registry) => void): Registry {
  const registry = new Registry();
  add(registry);
  return registry;
}
