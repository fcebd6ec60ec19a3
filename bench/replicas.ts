// Measures what replicas take off the primary: reads without one, over one and over two, and the writer's rate under these reads.
import { setTimeout as sleep } from "node:timers/promises";
import type { ReplicatedPostgres } from "../tests/support/database/replicated-postgres.ts";
import { tableSizes } from "./api/row-generators.ts";
import type { ApiReady, ApiTask } from "./api/server-child.ts";
import { startApi } from "./api/start-api.ts";
import { type Bench, type BenchOptions, type BenchReport, chooseSize } from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { type StartChild, withChildren } from "./harness/with-children.ts";
import { startBenchCluster } from "./replicas/bench-cluster.ts";
import { measureReads } from "./replicas/measure-reads.ts";
import { measureWriter } from "./replicas/measure-writer.ts";
import { isInRotation, type ReplicaApi } from "./replicas/observed-load.ts";
import { createReadPaths, MIXED } from "./replicas/read-paths.ts";
import { reportReplicas } from "./replicas/replica-report.ts";

const SCHEMA = "sextant";
// As the benchmark of the API has.
const SCALE = 0.1;
const EVENTS = { quick: 2_000, usual: 60_000, full: 200_000 };
const REPLICAS = { quick: 1, usual: 2, full: 2 };
const READ_ROUNDS = { quick: 1, usual: 3, full: 3 };
const WRITER_ROUNDS = { quick: 1, usual: 2, full: 2 };
const WARM_MS = { quick: 20, usual: 1_000, full: 1_000 };
const MS_PER_CELL = { quick: 20, usual: 1_500, full: 4_000 };
const ROTATION_MS_MAX = 30_000;
const ROTATION_CHECK_MS = 200;

export const replicasBench: Bench = {
  name: "replicas",
  async run(options) {
    const cluster = await startBenchCluster(chooseSize(options, REPLICAS));
    try {
      return await withChildren((start) => measure(options, cluster, start));
    } finally {
      await cluster.stop();
    }
  },
};

async function measure(
  options: BenchOptions,
  cluster: ReplicatedPostgres,
  start: StartChild,
): Promise<BenchReport> {
  const { seed, events, scale, full } = options;
  const sizes = tableSizes(scale ?? (full ? 1 : SCALE));
  const place = { connection: { url: cluster.primary.url }, schema: SCHEMA };
  const { api, depth } = await startApi(start, place, sizes);
  logProgress("the replicas catch up");
  await cluster.catchUp();
  const apis = [toReplicaApi(api, 0)];
  for (const count of cluster.replicas.keys()) {
    const readUrls = cluster.replicas.slice(0, count + 1).map(({ url }) => url);
    const task: ApiTask = { ...place, readUrls };
    const child = start(`api, ${readUrls.length} replicas`, "api/server-child.ts", task);
    apis.push(toReplicaApi(await child.next<ApiReady>(), readUrls.length));
  }
  for (const each of apis) await untilInRotation(each, cluster);
  const paths = createReadPaths(sizes, depth);
  const reads = await measureReads(cluster, apis, paths, {
    rounds: chooseSize(options, READ_ROUNDS),
    warmMs: chooseSize(options, WARM_MS),
    msPerCell: chooseSize(options, MS_PER_CELL),
  });
  const path = paths.get(MIXED);
  if (!path) throw new Error("there are no mixed reads");
  const writes = await measureWriter(
    start,
    { cluster, apis, path },
    { seed, events: events ?? chooseSize(options, EVENTS), rounds: chooseSize(options, WRITER_ROUNDS) },
  );
  return reportReplicas(reads, writes);
}

/** The one without a cache: every request is a read. */
function toReplicaApi({ coldUrl, control }: ApiReady, replicas: number): ReplicaApi {
  return { url: coldUrl, control, replicas };
}

async function untilInRotation(api: ReplicaApi, cluster: ReplicatedPostgres): Promise<void> {
  for (const untilMs = performance.now() + ROTATION_MS_MAX; performance.now() < untilMs; ) {
    if (await isInRotation(api, cluster)) return;
    await sleep(ROTATION_CHECK_MS);
  }
  throw new Error(`reads do not use the ${api.replicas} replicas`);
}
