// Every benchmark, in the order in which they run and are shown.
import { apiBench } from "./api.ts";
import { backfillBench } from "./backfill.ts";
import { clientBench } from "./client.ts";
import { eventsBench } from "./events.ts";
import { explorerBench } from "./explorer.ts";
import { exportBench } from "./export.ts";
import { growthBench } from "./growth.ts";
import type { Bench } from "./harness/measurement.ts";
import { lagBench } from "./lag.ts";
import { portfolioBench } from "./portfolio.ts";
import { reconcileBench } from "./reconcile.ts";
import { replicasBench } from "./replicas.ts";

export const BENCHES: readonly Bench[] = [
  backfillBench,
  apiBench,
  portfolioBench,
  clientBench,
  reconcileBench,
  lagBench,
  eventsBench,
  growthBench,
  replicasBench,
  explorerBench,
  exportBench,
];
