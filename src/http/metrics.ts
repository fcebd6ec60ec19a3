// Prometheus metrics of HTTP requests, by route and status, and of the process that serves them.
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Histogram,
  Registry,
} from "prom-client";
import { readVersion } from "../config/version.ts";

const DURATION_NAME = "sextant_http_request_seconds";
// Buckets from a cached response to a snapshot that waits for slow nodes.
const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30];

/** `route` is the declared pattern or `none`, never a URL: clients must not be able to create series. */
export type ObserveRequest = (route: string, status: number, ms: number) => void;

type RouteStats = {
  readonly byStatus: Map<number, number>;
  /** Requests per bucket, not cumulative; the last one is above all bounds. */
  readonly buckets: number[];
  seconds: number;
};

export function createRequestMetrics(registry: Registry): ObserveRequest {
  // Plain numbers per route, turned into labels only when metrics are collected. metrics.bench.ts: prom-client's own
  // labelled histogram hashes the labels of each observation and costs about four times as much.
  const routes = new Map<string, RouteStats>();
  new Counter({
    name: "sextant_http_requests_total",
    help: "HTTP requests, by route and status; unknown paths count as route none.",
    labelNames: ["route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, { byStatus }] of routes) {
        for (const [status, count] of byStatus) this.inc({ route, status }, count);
      }
    },
  });
  registerDurations(registry, routes);
  return (route, status, ms) => {
    let stats = routes.get(route);
    if (!stats) {
      stats = { byStatus: new Map(), buckets: [...BUCKETS_SECONDS.map(() => 0), 0], seconds: 0 };
      routes.set(route, stats);
    }
    const seconds = ms / 1_000;
    stats.byStatus.set(status, (stats.byStatus.get(status) ?? 0) + 1);
    stats.seconds += seconds;
    let bucket = 0;
    while (bucket < BUCKETS_SECONDS.length && seconds > (BUCKETS_SECONDS[bucket] ?? 0)) bucket += 1;
    stats.buckets[bucket] = (stats.buckets[bucket] ?? 0) + 1;
  };
}

/** Registers an object in place of a Histogram: collecting calls nothing but `get`. */
function registerDurations(registry: Registry, routes: ReadonlyMap<string, RouteStats>): void {
  const metric = {
    name: DURATION_NAME,
    help: "Time from the head of a request to the end of its response, by route; unknown paths count as route none.",
    type: "histogram",
    aggregator: "sum",
  };
  const get = async () => ({ ...metric, values: [...routes].flatMap(routeValues) });
  registry.registerMetric({ ...metric, labelNames: ["route"], get } as unknown as Histogram);
}

function routeValues([route, { buckets, seconds }]: [string, RouteStats]) {
  let count = 0;
  const cumulative = buckets.map((inBucket, index) => {
    count += inBucket;
    return {
      metricName: `${DURATION_NAME}_bucket`,
      labels: { route, le: BUCKETS_SECONDS[index] ?? "+Inf" },
      value: count,
    };
  });
  return [
    ...cumulative,
    { metricName: `${DURATION_NAME}_sum`, labels: { route }, value: seconds },
    { metricName: `${DURATION_NAME}_count`, labels: { route }, value: count },
  ];
}

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

let processRegistry: Registry | null = null;

/**
 * Which build runs, and what Node says of its process under the names that dashboards expect. Once in a process, however
 * many services it has: the monitor of the event loop takes half a percent of a core.
 */
export function openProcessMetrics(): Registry {
  if (processRegistry === null) {
    const register = new Registry();
    const build = new Gauge({
      name: "sextant_build_info",
      help: "Always 1; the labels say which version of Sextant runs on which version of Node.",
      labelNames: ["version", "node"],
      registers: [register],
    });
    build.set({ version: readVersion(), node: process.version }, 1);
    collectDefaultMetrics({ register });
    processRegistry = register;
  }
  return processRegistry;
}
