// The writer's rate while nothing is read, and under full read load on the primary, on one replica and on two.
import type { ReplicatedPostgres } from "../../tests/support/database/replicated-postgres.ts";
import { runHttpLoad } from "../api/http-load.ts";
import { runBackfill, startReplayNodeChild } from "../backfill/run-backfill.ts";
import { logProgress } from "../harness/progress.ts";
import type { StartChild } from "../harness/with-children.ts";
import { READ_CONNECTIONS } from "./measure-reads.ts";
import { addLoads, NO_LOAD, type ObservedLoad, observeLoad, type ReplicaApi } from "./observed-load.ts";
import type { NextPath } from "./read-paths.ts";

export type WriterCell = {
  /** Null without reads. */
  readonly replicas: number | null;
  readonly events: number;
  readonly ms: number;
  /** How long the replicas needed after the last block to show it. */
  readonly behindMs: number;
  /** Its reads, and what the servers spent on these and on writing; the time is that of the whole run. */
  readonly observed: ObservedLoad;
};

type WriterTask = { readonly seed: number; readonly events: number; readonly rounds: number };

// An index of its own: what is read stays the same while this one is written.
const SCHEMA = "sextant_writer";
// Far longer than any backfill here.
const LOAD_MS_MAX = 3_600_000;

export async function measureWriter(
  start: StartChild,
  { cluster, apis, path }: { cluster: ReplicatedPostgres; apis: readonly ReplicaApi[]; path: NextPath },
  { seed, events, rounds }: WriterTask,
): Promise<readonly WriterCell[]> {
  const { node, stop } = await startReplayNodeChild(start, { seed, events });
  const place = { connection: { url: cluster.primary.url }, schema: SCHEMA };
  const task = { ...place, url: node.url, seed, head: node.head, events: node.events };
  const readers = [null, ...apis];
  const cells: WriterCell[] = readers.map((api) => ({
    replicas: api?.replicas ?? null,
    events: 0,
    ms: 0,
    behindMs: 0,
    observed: NO_LOAD,
  }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [at, api] of readers.entries()) {
      logProgress(`writer, round ${round} of ${rounds}: ${describeReaders(api?.replicas ?? null)}`);
      const written = await writeUnderReads(cluster, { api, apis, path }, () => runBackfill(start, task));
      const before = cells[at];
      if (before) cells[at] = addCells(before, written);
    }
  }
  await stop();
  return cells;
}

export function describeReaders(replicas: number | null): string {
  if (replicas === null) return "no reads";
  if (replicas === 0) return "reads on the primary";
  return `reads on ${replicas} replica${replicas === 1 ? "" : "s"}`;
}

type Written = Omit<WriterCell, "replicas">;

async function writeUnderReads(
  cluster: ReplicatedPostgres,
  readers: { api: ReplicaApi | null; apis: readonly ReplicaApi[]; path: NextPath },
  backfill: () => Promise<{ readonly events: number; readonly ms: number }>,
): Promise<Written> {
  const { api, path } = readers;
  const shown = api ?? readers.apis[0];
  if (!shown) throw new Error("there is no API");
  const done = new AbortController();
  const load = { connections: READ_CONNECTIONS, ms: LOAD_MS_MAX, path, status: 200, signal: done.signal };
  let written = { events: 0, ms: 0 };
  const observed = await observeLoad(cluster, shown, async () => {
    const startedMs = performance.now();
    const [{ requests }] = await Promise.all([
      api ? runHttpLoad({ ...load, url: api.url }) : NO_LOAD,
      backfill()
        .then((report) => {
          written = report;
        })
        .finally(() => done.abort()),
    ]);
    return { requests, ms: performance.now() - startedMs };
  });
  const endedMs = performance.now();
  await cluster.catchUp();
  const behindMs = performance.now() - endedMs;
  await cluster.primary.query(`drop schema ${SCHEMA} cascade`);
  await cluster.catchUp();
  return { events: written.events, ms: written.ms, behindMs, observed };
}

function addCells(one: WriterCell, other: Written): WriterCell {
  return {
    replicas: one.replicas,
    events: one.events + other.events,
    ms: one.ms + other.ms,
    behindMs: Math.max(one.behindMs, other.behindMs),
    observed: addLoads(one.observed, other.observed),
  };
}
