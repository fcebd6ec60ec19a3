// Opens the replicas to read from: a router over them and the primary, and what keeps their state known.
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../postgres/database.ts";
import { type ReadObserver, ReadRouter } from "./read-router.ts";
import {
  type IndexState,
  isOlder,
  PrimaryWatch,
  ReadSource,
  ServedState,
  type SourceReaders,
  sampleServer,
} from "./read-source.ts";
import { ReplicaMonitor } from "./replica-monitor.ts";

export type ReplicaOptions = {
  readonly databases: readonly Database[];
  /** A replica that has been missing something for longer leaves the rotation. */
  readonly lagMsMax: number;
};

type RoutedReadsOptions = {
  readonly database: Database;
  readonly replicas: ReplicaOptions;
  readonly openReaders: (database: Database, options: { readonly isReplica: boolean }) => SourceReaders;
  /** A source that reads may use shows this state. */
  readonly onState: (state: IndexState) => void;
  /** The primary has lost commits, or its index: what was read before counts no longer. */
  readonly onReset: () => void;
  readonly observer: ReadObserver;
  readonly log: Log;
};

export type RoutedReads = ReturnType<typeof openRoutedReads>;

const PRIMARY_SAMPLE_MS = 1_000;
// How long a request that waits for a block waits for a replica to have it, before it reads the primary.
const REPLICA_WAIT_MS_MAX = 250;

export function openRoutedReads(options: RoutedReadsOptions) {
  const { database, replicas, observer, onReset } = options;
  const shutdown = new AbortController();
  const served = new ServedState();
  const stepBack = (state: IndexState) => {
    if (!isOlder(state, served.newest)) return;
    served.reset(state);
    onReset();
  };
  const watch = new PrimaryWatch(database, stepBack);
  const waiting = new Set<() => void>();
  const onState = (state: IndexState) => {
    // A replica that is behind says nothing about how far the index is. The primary alone is behind when two reads end
    // in another order than they began, or when its index was created again: a sample shows which.
    if (!isOlder(state, served.newest)) options.onState(state);
    else if (replicas.databases.length === 0) void watch.sample();
    served.observe(state);
    for (const wake of waiting) wake();
  };
  const { primary, sources, monitors } = openSources(options, { watch, onState, signal: shutdown.signal });
  const servers = { primary, replicas: sources, served, watch };
  const router = new ReadRouter({ ...servers, onState, onReset, observer, clock: systemClock });
  const readPrimary = createPrimaryReader(watch, monitors, onState);
  // Without replicas nothing compares with the primary.
  const sampling = sources.length === 0 ? undefined : sampleRegularly(watch, shutdown.signal);
  const following = monitors.map((monitor) => monitor.run());
  return {
    primary,
    replicas: sources,
    read: router.read,
    pinHistory: (atLeast: bigint) => router.pinHistory(atLeast),
    /** The state of the primary, once a replica shows it too or has had its time; null if nothing is indexed. */
    async readNewest(): Promise<IndexState | null> {
      if (sources.length === 0) return (await sampleServer(database)).state;
      const state = await readPrimary();
      if (state === null) return served.newest;
      const hasReplica = () => sources.some(({ state: known }) => known && !isOlder(known, state));
      if (sources.some(({ isInRotation }) => isInRotation)) await waitUntil(hasReplica, waiting);
      return state;
    },
    /** The rows of the index have changed. */
    onIndexChanged(): void {
      if (sources.length > 0) void readPrimary();
    },
    onRecordsWritten(): void {
      if (sources.length > 0) watch.onRecordsWritten();
    },
    /** Notifications of the primary arrive (again): it may be another server. */
    async onConnected(): Promise<void> {
      if (sources.length === 0) {
        // Whatever it shows next is the truth.
        served.reset(null);
        onReset();
        return;
      }
      watch.onRecordsWritten();
      const state = await readPrimary();
      if (state !== null) stepBack(state);
    },
    async close(): Promise<void> {
      shutdown.abort();
      await Promise.all([sampling, ...following]);
      await Promise.all([primary, ...sources].map(({ readers }) => readers.close()));
    },
  };
}

function createPrimaryReader(
  watch: PrimaryWatch,
  monitors: readonly ReplicaMonitor[],
  onState: (state: IndexState) => void,
): () => Promise<IndexState | null> {
  let last: IndexState | null = null;
  return async () => {
    const state = (await watch.sample())?.state ?? null;
    if (state === null) return null;
    // A branch that the primary has left is no longer served, wherever it can still be read.
    if (last !== null && state.number <= last.number && state.hash !== last.hash) onState(state);
    last = state;
    for (const monitor of monitors) monitor.expect(state.revision);
    return state;
  };
}

type SourceContext = {
  readonly watch: PrimaryWatch;
  readonly onState: (state: IndexState) => void;
  readonly signal: AbortSignal;
};

function openSources({ database, replicas, openReaders, log }: RoutedReadsOptions, context: SourceContext) {
  const createSource = (each: Database, isReplica: boolean) =>
    new ReadSource(each.target.server, openReaders(each, { isReplica }));
  const { lagMsMax } = replicas;
  const followed = replicas.databases.map((replica) => {
    const source = createSource(replica, true);
    return { source, monitor: new ReplicaMonitor({ ...context, source, database: replica, lagMsMax, log }) };
  });
  return {
    primary: createSource(database, false),
    sources: followed.map(({ source }) => source),
    monitors: followed.map(({ monitor }) => monitor),
  };
}

async function sampleRegularly(watch: PrimaryWatch, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await watch.sample();
    await systemClock.sleep(PRIMARY_SAMPLE_MS, signal).catch(() => undefined);
  }
}

function waitUntil(isReached: () => boolean, waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (isReached()) end();
    };
    const end = () => {
      clearTimeout(timer);
      waiting.delete(check);
      resolve();
    };
    const timer = setTimeout(end, REPLICA_WAIT_MS_MAX);
    waiting.add(check);
    check();
  });
}
