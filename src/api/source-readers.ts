// The readers of one server: quick and slow reads, and pages of past events on connections of their own; with their metrics.

import { Counter, Gauge, type Registry } from "prom-client";
import { openPipelinedReader, QUICK_READER_OPTIONS } from "../store/fast/pipelined-reader.ts";
import { openIndexReader, openSlowReader } from "../store/index/reader.ts";
import type { Database } from "../store/postgres/database.ts";
import type { ReadObserver } from "../store/replicas/read-router.ts";
import type { ReadSource, SourceReaders } from "../store/replicas/read-source.ts";
import { EVENT_STREAM_LIMITS, type EventStreamLimits } from "./events/streams.ts";

type SourceReadersOptions = {
  /** A read that meets a broken connection there is sent to another server instead. */
  readonly isReplica?: boolean;
  readonly eventStreams?: Partial<EventStreamLimits>;
  /** How many deployments this process reads from the server; 1 if absent. */
  readonly deployments?: number;
};

type ReaderConnections = { readonly quick: number; readonly slow: number; readonly history: number };

// History is read page by page; more connections would only take CPU time from other reads.
const ALONE: ReaderConnections = { quick: QUICK_READER_OPTIONS.connections, slow: 2, history: 2 };
// Connections of all deployments together, up to ten of them: PostgreSQL's default of 100 leaves room for an indexer
// and for other processes.
const CONNECTIONS_MAX = 30;

/** The connections of each of several deployments: every kind of read keeps at least one of its own. */
export function shareConnections(deployments: number): ReaderConnections {
  const each = Math.floor(CONNECTIONS_MAX / deployments);
  const others = each >= 5 ? 2 : 1;
  const quick = Math.min(ALONE.quick, Math.max(1, each - 2 * others));
  return deployments === 1 ? ALONE : { quick, slow: others, history: others };
}

const HISTORY_STATEMENT_MS_MAX = 5_000;
// Pages in flight of one client alongside its streams.
const PAGES_PER_CLIENT_MAX = 20;
const PAGES_MAX = 200;

export function openSourceReaders(database: Database, options: SourceReadersOptions = {}): SourceReaders {
  const attempts = options.isReplica === true ? { attempts: 1 } : {};
  const connections = shareConnections(options.deployments ?? 1);
  const quick = openPipelinedReader(database, {
    ...QUICK_READER_OPTIONS,
    ...attempts,
    connections: connections.quick,
  });
  const slow = openSlowReader(database, { ...attempts, connections: connections.slow });
  const { streamsMax, streamsPerClientMax } = { ...EVENT_STREAM_LIMITS, ...options.eventStreams };
  const history = openSlowReader(database, {
    ...attempts,
    connections: connections.history,
    statementTimeoutMs: HISTORY_STATEMENT_MS_MAX,
    purpose: "events",
    // A stream waits for one page at a time, so that all of them can wait.
    waitingMax: streamsMax + PAGES_MAX,
    waitingPerClientMax: streamsPerClientMax + PAGES_PER_CLIENT_MAX,
  });
  const all = [quick, slow, history];
  return {
    index: openIndexReader({ quick, slow }).read,
    history: openIndexReader({ quick, slow: history }).read,
    disconnect: () => {
      for (const reader of all) reader.disconnect();
    },
    close: async () => {
      await Promise.all(all.map((reader) => reader.close()));
    },
  };
}

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
