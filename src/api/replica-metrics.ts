// Prometheus metrics of reads by server: how many, repeated ones, and how far replicas are behind.
import { Counter, Gauge, type Registry } from "prom-client";
import type { ReadObserver } from "../store/replicas/read-router.ts";
import type { ReadSource } from "../store/replicas/read-source.ts";

type ReplicaMetrics = ReadObserver & {
  /** Their state is read when metrics are collected. */
  observeReplicas(replicas: readonly ReadSource[]): void;
};

export function createReplicaMetrics(registry: Registry): ReplicaMetrics {
  const registers = [registry];
  const labelNames = ["server"];
  const reads = new Counter({
    name: "sextant_index_reads_total",
    help: "Reads of the index by the server that they were read from.",
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: "sextant_index_read_retries_total",
    help: "Reads of the index that were repeated on another server, by the server that failed or was behind.",
    labelNames,
    registers,
  });
  return {
    onRead: (server) => reads.inc({ server }),
    onRetry: (server) => retries.inc({ server }),
    observeReplicas(replicas) {
      new Gauge({
        name: "sextant_replica_in_rotation",
        help: "1 while reads use the replica.",
        labelNames,
        registers,
        collect() {
          for (const { name, isInRotation } of replicas) this.set({ server: name }, isInRotation ? 1 : 0);
        },
      });
      new Gauge({
        name: "sextant_replica_lag_seconds",
        help: "For how long the replica has been missing something that the primary has written.",
        labelNames,
        registers,
        collect() {
          for (const { name, lagMs } of replicas) this.set({ server: name }, lagMs / 1_000);
        },
      });
    },
  };
}
