// A primary with two streaming replicas, and the processor time that each side of it has used.
import { readFileSync } from "node:fs";
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from "../../tests/support/database/replicated-postgres.ts";

/** Since the start; null if the system does not show it. */
export type ClusterTimes = {
  readonly primaryMs: number | null;
  /** Processor time of all replicas together, replay included. */
  readonly replicasMs: number | null;
};

// As our embedded server has, so that the rows of the reads are in memory.
const SETTINGS = { shared_buffers: "192MB", work_mem: "8MB", random_page_cost: "1.1", max_wal_size: "2GB" };

export function startBenchCluster(): Promise<ReplicatedPostgres> {
  return startReplicatedPostgres({ replicas: [{}, {}], settings: SETTINGS });
}

export function readClusterTimes({ primary, replicas }: ReplicatedPostgres): ClusterTimes {
  return {
    primaryMs: readServerMs(primary.pid),
    replicasMs: replicas.map(({ pid }) => readServerMs(pid)).reduce(addKnown, 0),
  };
}

/** Null if either is unknown. */
export function addKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

// The unit of /proc, on every Linux.
const TICKS_PER_SECOND = 100;

/** Processor time of a server and the processes of its sessions, those that have ended included. */
function readServerMs(pid: number): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    const running = children.reduce((sum, child) => sum + readTicks(child).own, 0);
    const { own, ended } = readTicks(String(pid));
    return ((running + own + ended) * 1_000) / TICKS_PER_SECOND;
  } catch {
    // Another system, or a session that ended between two reads.
    return null;
  }
}

function readTicks(pid: string): { readonly own: number; readonly ended: number } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in brackets and may have spaces; after it come the state and numbers.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
  return { own: (user ?? 0) + (system ?? 0), ended: (endedUser ?? 0) + (endedSystem ?? 0) };
}
