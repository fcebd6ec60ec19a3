// Reads per second and their cost without a replica, over one and over two, in turns.
import type { ReplicatedPostgres } from "../../tests/support/database/replicated-postgres.ts";
import { runHttpLoad } from "../api/http-load.ts";
import { logProgress } from "../harness/progress.ts";
import { addLoads, NO_LOAD, type ObservedLoad, observeLoad, type ReplicaApi } from "./observed-load.ts";
import type { NextPath } from "./read-paths.ts";

export const READ_CONNECTIONS = 32;

export type ReadCell = ObservedLoad & { readonly kind: string; readonly replicas: number };

type ReadTimes = { readonly rounds: number; readonly warmMs: number; readonly msPerCell: number };

export async function measureReads(
  cluster: ReplicatedPostgres,
  apis: readonly ReplicaApi[],
  paths: ReadonlyMap<string, NextPath>,
  { rounds, warmMs, msPerCell }: ReadTimes,
): Promise<readonly ReadCell[]> {
  const load = (api: ReplicaApi, path: NextPath, ms: number) =>
    runHttpLoad({ url: api.url, connections: READ_CONNECTIONS, ms, path, status: 200 });
  const cells = [...paths].flatMap(([kind, path]) => apis.map((api) => ({ kind, path, api })));
  for (const { api, path } of cells) await load(api, path, warmMs);
  const totals = cells.map(() => NO_LOAD);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [at, { api, path, kind }] of cells.entries()) {
      const observed = await observeLoad(cluster, api, () => load(api, path, msPerCell));
      totals[at] = addLoads(totals[at] ?? NO_LOAD, observed);
      logProgress(`reads, round ${round} of ${rounds}: ${kind}, ${api.replicas} replicas`);
    }
  }
  return cells.map(({ kind, api }, at) => ({
    ...(totals[at] ?? NO_LOAD),
    kind,
    replicas: api.replicas,
  }));
}
