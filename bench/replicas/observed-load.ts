// Reads of one API over the cluster, with what the API, the primary and the replicas spent on them.
import type { ReplicatedPostgres } from "../../tests/support/database/replicated-postgres.ts";
import { readCpuMs, type ServerReady } from "../api/cpu-time.ts";
import type { LoadResult } from "../api/http-load.ts";
import type { Cell } from "../api/load-child.ts";
import { addKnown, type ClusterTimes, readClusterTimes } from "./bench-cluster.ts";

/** An API without a cache, and how many replicas it reads from. */
export type ReplicaApi = ServerReady & { readonly replicas: number };

/** Processor time of the cell is that of the API. */
export type ObservedLoad = Cell &
  ClusterTimes & {
    /** How many of its reads the primary served. */
    readonly primaryReads: number;
  };

export const NO_LOAD: ObservedLoad = {
  requests: 0,
  ms: 0,
  cpuMs: 0,
  primaryMs: 0,
  replicasMs: 0,
  primaryReads: 0,
};

export async function observeLoad(
  cluster: ReplicatedPostgres,
  api: ReplicaApi,
  run: () => Promise<LoadResult>,
): Promise<ObservedLoad> {
  const readTimes = async () => ({
    cpuMs: await readCpuMs(api.control),
    replicaReads: await countReplicaReads(api, cluster),
    ...readClusterTimes(cluster),
  });
  const before = await readTimes();
  const { requests, ms } = await run();
  const after = await readTimes();
  return {
    requests,
    ms,
    cpuMs: after.cpuMs - before.cpuMs,
    primaryMs: subtractKnown(after.primaryMs, before.primaryMs),
    replicasMs: subtractKnown(after.replicasMs, before.replicasMs),
    primaryReads: Math.max(0, requests - (after.replicaReads - before.replicaReads)),
  };
}

export function addLoads(one: ObservedLoad, other: ObservedLoad): ObservedLoad {
  return {
    requests: one.requests + other.requests,
    ms: one.ms + other.ms,
    cpuMs: one.cpuMs + other.cpuMs,
    primaryMs: addKnown(one.primaryMs, other.primaryMs),
    replicasMs: addKnown(one.replicasMs, other.replicasMs),
    primaryReads: one.primaryReads + other.primaryReads,
  };
}

function subtractKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one - other;
}

async function countReplicaReads(api: ReplicaApi, { replicas }: ReplicatedPostgres): Promise<number> {
  const metrics = await readMetrics(api);
  const counts = replicas.map(({ port }) => metrics("sextant_index_reads_total", port));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Whether reads use all of its replicas. */
export async function isInRotation(api: ReplicaApi, { replicas }: ReplicatedPostgres): Promise<boolean> {
  const metrics = await readMetrics(api);
  const used = replicas.filter(({ port }) => metrics("sextant_replica_in_rotation", port) === 1);
  return used.length === api.replicas;
}

/** The value of a metric for the server on a port; 0 if it is not listed. */
async function readMetrics({ url }: ReplicaApi): Promise<(name: string, port: number) => number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  return (name, port) => {
    const line = lines.find((each) => each.startsWith(`${name}{`) && each.includes(`:${port}"`));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
}
