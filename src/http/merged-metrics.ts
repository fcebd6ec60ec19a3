// The metrics of several registries as one document; their default labels tell them apart.
import { AggregatorRegistry, type Registry } from "prom-client";

export type MetricsSource = Pick<Registry, "contentType" | "metrics">;

export function mergeMetrics(registries: readonly Registry[]): MetricsSource {
  return {
    contentType: AggregatorRegistry.PROMETHEUS_CONTENT_TYPE,
    async metrics() {
      const collected = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
      return AggregatorRegistry.aggregate(collected).metrics();
    },
  };
}
