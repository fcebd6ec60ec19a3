// How the embedded server is tuned: one machine, one Node process beside it, durable unless it is for tests.
import type { ServerFolders } from "./server-folders.ts";

// How long the embedded server is given to come and to go.

// Disconnects everyone and writes a checkpoint: well under a second unless the disk is very slow.

export const FAST_SHUTDOWN_MS_MAX = 8_000;
// No checkpoint, only exits; the next start replays the log.
export const IMMEDIATE_SHUTDOWN_MS_MAX = 4_000;
// Replaying two gigabytes of log after a crash, on a slow disk.
export const RECOVERY_MS_MAX = 300_000;

/** `full` survives a power cut; `none` survives a crash of the server, but not of the machine: for tests. */
export type Durability = "full" | "none";

const TUNED = {
  // Only the private socket: no port, so no conflict and no way in from outside.
  listen_addresses: "",
  port: "5432",
  unix_socket_permissions: "0700",
  // Three processes of ours with a pool and a reader each, and room for psql.
  max_connections: "150",
  // Holds the hot indexes of a few million rows; more would be taken from Node on a small machine.
  shared_buffers: "192MB",
  effective_cache_size: "768MB",
  maintenance_work_mem: "128MB",
  work_mem: "8MB",
  // Fewer checkpoints while a backfill writes gigabytes; a restart after a crash replays at most this much.
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  // Nobody replicates from a private server, and bulk loads into new tables then need no log.
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Point reads and short lists: planning for spinning disks, compiling and parallel workers only cost.
  // Workers also need /dev/shm, which containers keep at 64 MB.
  random_page_cost: "1.1",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  io_method: "sync",
  timezone: "UTC",
  log_timezone: "UTC",
  // Failing statements are reported by whoever sent them; here they would only show data.
  log_min_messages: "warning",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
} as const;

const DURABLE: Record<Durability, Readonly<Record<string, string>>> = {
  full: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
  // Each commit still reaches the operating system, which is what makes a killed server lose nothing.
  none: { fsync: "off", synchronous_commit: "on", full_page_writes: "off" },
};

/** Given on the command line, so that an old data folder always runs with today's settings. */
export function serverArguments(home: ServerFolders, durability: Durability): string[] {
  const settings = {
    ...TUNED,
    ...DURABLE[durability],
    unix_socket_directories: `"${home.socketFolder.replaceAll('"', '""')}"`,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", home.dataFolder, ...options];
}
