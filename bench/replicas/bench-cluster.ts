// A primary with streaming replicas, and the processor time that each side of it has used.
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from "../../tests/support/database/replicated-postgres.ts";
import { readTreeCpuMs } from "../harness/process-costs.ts";

/** Since the start; null if the system does not show it. */
export type ClusterTimes = {
  readonly primaryMs: number | null;
  /** Processor time of all replicas together, replay included. */
  readonly replicasMs: number | null;
};

// As our embedded server has, so that the rows of the reads are in memory.
const SETTINGS = { shared_buffers: "192MB", work_mem: "8MB", random_page_cost: "1.1", max_wal_size: "2GB" };

export function startBenchCluster(replicas: number): Promise<ReplicatedPostgres> {
  return startReplicatedPostgres({
    replicas: Array.from({ length: replicas }, () => ({})),
    settings: SETTINGS,
  });
}

export function readClusterTimes({ primary, replicas }: ReplicatedPostgres): ClusterTimes {
  return {
    primaryMs: readTreeCpuMs(primary.pid),
    replicasMs: replicas.map(({ pid }) => readTreeCpuMs(pid)).reduce(addKnown, 0),
  };
}

/** Null if either is unknown. */
export function addKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}
