// Settings of the embedded server: one machine, one Node process alongside it, durable except in tests.
import type { ServerFolders } from "./server-folders.ts";

// Ends all sessions and writes a checkpoint: well under a second unless the disk is very slow.
export const FAST_SHUTDOWN_MS_MAX = 8_000;
// Exits without a checkpoint; the next start replays the WAL.
export const IMMEDIATE_SHUTDOWN_MS_MAX = 4_000;
// Replaying two gigabytes of WAL after a crash, on a slow disk.
export const RECOVERY_MS_MAX = 300_000;

/** `full` survives a power failure; `none` survives a crash of the server, but not of the machine: for tests. */
export type Durability = "full" | "none";

const TUNED = {
  // Only the private socket: no TCP port, so no conflict and no access from outside.
  listen_addresses: "",
  port: "5432",
  unix_socket_permissions: "0700",
  // Three Sextant processes with a pool and a reader each, and room for psql.
  max_connections: "150",
  // Holds the hot indexes of a few million rows; on a small machine more would be missing for Node.
  shared_buffers: "192MB",
  effective_cache_size: "768MB",
  maintenance_work_mem: "128MB",
  work_mem: "8MB",
  // Fewer checkpoints while a backfill writes gigabytes; crash recovery replays at most this much.
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  // No replication from a private server; bulk loads into new tables then skip the WAL.
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Point reads and short lists do not gain from JIT or parallel workers, which also need /dev/shm (64 MB in containers).
  random_page_cost: "1.1",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  io_method: "sync",
  timezone: "UTC",
  log_timezone: "UTC",
  // The client reports failing statements; in this log they would only expose data.
  log_min_messages: "warning",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
} as const;

const DURABLE: Record<Durability, Readonly<Record<string, string>>> = {
  full: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
  // Each commit still reaches the operating system, so a killed server loses nothing.
  none: { fsync: "off", synchronous_commit: "on", full_page_writes: "off" },
};

/** Passed on the command line, so that an existing data folder runs with the current settings. */
export function serverArguments(folders: ServerFolders, durability: Durability): string[] {
  const settings = {
    ...TUNED,
    ...DURABLE[durability],
    unix_socket_directories: `"${folders.socketFolder.replaceAll('"', '""')}"`,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", folders.dataFolder, ...options];
}
