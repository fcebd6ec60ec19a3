// Opens the replicas and routes reads of the index over them: each goes to one that has what it needs, at last to the primary.
import { type Clock, systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { IndexHead, ReadStatement, ResultRows, RunRead } from "../../schema/reads/read.ts";
import type { Database } from "../postgres/database.ts";
import {
  chooseSource,
  type IndexState,
  isOlder,
  PrimaryWatch,
  type ReadNeeds,
  ReadSource,
  ServedState,
  type SourceReaders,
  sampleServer,
} from "./read-source.ts";
import { ReplicaMonitor } from "./replica-monitor.ts";

export type ReadObserver = {
  onRead(source: string): void;
  /** A read is repeated elsewhere. */
  onRetry(source: string): void;
};

type ReadRouterOptions = {
  readonly primary: ReadSource;
  readonly replicas: readonly ReadSource[];
  readonly served: ServedState;
  readonly watch: PrimaryWatch;
  /** A read was served in this state. */
  readonly onState: (state: IndexState) => void;
  /** The primary has lost commits, or its index: what was read before counts no longer. */
  readonly onReset: () => void;
  readonly observer: ReadObserver;
  readonly clock: Clock;
};

type Use<T> = (head: IndexHead, rows: ResultRows) => T;
type Attempt<T> = { readonly value: T } | { readonly failure: unknown };

// A replica may show a commit before the primary does, which waits for synchronous replicas, usually for milliseconds.
const PRIMARY_BEHIND_MS_MAX = 500;
const PRIMARY_RETRY_MS = 5;

class ReadRouter {
  readonly #options: ReadRouterOptions;
  #turn = 0;
  /** The state of the primary after the time that it has to catch up: reads do not wait for more again. */
  #lateRevision: bigint | null = null;

  constructor(options: ReadRouterOptions) {
    this.#options = options;
  }

  readonly read: RunRead = (statement, use) => {
    const { primary, replicas, watch, onState } = this.#options;
    if (replicas.length > 0) return this.#route(statement, use);
    // No promise more than the read itself: this path runs thousands of times a second.
    return primary.readers.index(statement, (head, rows) => {
      watch.observe(head);
      onState(head);
      return use(head, rows);
    });
  };

  async #route<T>(statement: ReadStatement, use: Use<T>): Promise<T> {
    const { replicas, watch, served } = this.#options;
    const { records = "any" } = statement;
    const atLeast = await this.#findReachable(statement.atLeast ?? null);
    const { recordsPosition } = watch;
    const needs = {
      floor: served.newest,
      atLeast,
      position: records === "any" ? null : recordsPosition,
    };
    const tried = new Set<ReadSource>();
    // While the position is not known yet, only the primary surely has the records.
    const mayUseReplica = records === "any" || (records === "replayed" && recordsPosition !== null);
    for (let count = 0; mayUseReplica && count < replicas.length; count += 1) {
      const source = chooseSource(replicas, needs, tried, this.#nextTurn());
      if (source === null) break;
      tried.add(source);
      const attempt = await this.#attempt(source, source.readers.index, { statement, needs, use });
      if ("value" in attempt) return attempt.value;
      if (!isRepeatable(attempt.failure)) throw attempt.failure;
      this.#giveUp(source, attempt.failure);
    }
    return await this.#readPrimary(statement, use, needs, tried);
  }

  /**
   * For several statements that must see one server: a reader of one replica that has the block, or null. The same
   * statement may succeed on another server.
   */
  pinHistory(atLeast: bigint): RunRead | null {
    const { replicas, served } = this.#options;
    const needs = { floor: served.newest, atLeast, position: null };
    const source = chooseSource(replicas, needs, new Set(), this.#nextTurn());
    if (source === null) return null;
    return async (statement, use) => {
      const attempt = await this.#attempt(source, source.readers.history, { statement, needs, use });
      if ("value" in attempt) return attempt.value;
      if (isRepeatable(attempt.failure)) this.#giveUp(source, attempt.failure);
      throw attempt.failure;
    };
  }

  /**
   * Null for a block that no server has: each of them says so as well as the primary does, which would otherwise get all
   * requests for blocks of the future. However many there are, they share one sample of it.
   */
  async #findReachable(atLeast: bigint | null): Promise<bigint | null> {
    const { watch } = this.#options;
    const isIndexed = (sample = watch.latest) =>
      atLeast !== null && (sample?.state?.number ?? -1n) >= atLeast;
    if (atLeast === null || isIndexed()) return atLeast;
    const sample = await watch.sample();
    return sample === null || isIndexed(sample) ? atLeast : null;
  }

  #nextTurn(): number {
    this.#turn = (this.#turn + 1) % 1_000_000;
    return this.#turn;
  }

  /** A failure of `use` itself is thrown: the read has succeeded. */
  async #attempt<T>(
    source: ReadSource,
    run: RunRead,
    read: { readonly statement: ReadStatement; readonly needs: ReadNeeds; readonly use: Use<T> },
  ): Promise<Attempt<T>> {
    const { statement, needs, use } = read;
    const { primary, watch } = this.#options;
    const progress = { isUsed: false };
    source.inFlight += 1;
    try {
      const value = await run(statement, (head, rows) => {
        if (source === primary) watch.observe(head);
        // The connection may lead to another server than the one that was sampled.
        if (isOlder(head, needs.floor) || (needs.atLeast !== null && head.number < needs.atLeast)) {
          source.correct(head);
          throw new SourceBehind();
        }
        source.observe(head);
        progress.isUsed = true;
        this.#options.observer.onRead(source.name);
        this.#options.onState(head);
        return use(head, rows);
      });
      return { value };
    } catch (failure) {
      if (progress.isUsed) throw failure;
      return { failure };
    } finally {
      source.inFlight -= 1;
    }
  }

  #giveUp(source: ReadSource, failure: unknown): void {
    this.#options.observer.onRetry(source.name);
    if (failure instanceof Fault && failure.code === "DATABASE_UNREACHABLE") source.leave(failure.message);
  }

  async #readPrimary<T>(
    statement: ReadStatement,
    use: Use<T>,
    needs: ReadNeeds,
    tried: Set<ReadSource>,
  ): Promise<T> {
    const { primary, clock, replicas } = this.#options;
    const untilMs = performance.now() + PRIMARY_BEHIND_MS_MAX;
    for (let { floor } = needs; ; ) {
      const read = { statement, use, needs: { floor, atLeast: null, position: null } };
      const attempt = await this.#attempt(primary, primary.readers.index, read);
      if ("value" in attempt) return attempt.value;
      if (attempt.failure instanceof SourceBehind) {
        const isLate = performance.now() >= untilMs || primary.state?.revision === this.#lateRevision;
        if (isLate) floor = await this.#acceptOlder(primary.state);
        else await clock.sleep(PRIMARY_RETRY_MS);
        continue;
      }
      // Without the primary, a replica without the block can still say which one it has.
      const isDown = attempt.failure instanceof Fault && attempt.failure.code === "DATABASE_UNREACHABLE";
      const source =
        isDown && (statement.records === undefined || needs.position !== null)
          ? chooseSource(replicas, { ...needs, atLeast: null }, tried, this.#nextTurn())
          : null;
      if (source === null) throw attempt.failure;
      tried.add(source);
      const other = await this.#attempt(source, source.readers.index, read);
      if ("value" in other) return other.value;
      throw attempt.failure;
    }
  }

  /**
   * Null, so that the next attempt takes what it finds. After a fail-over the primary is right, and what was served
   * before counts no longer; the same if its index was created again. One that has been running all the time has lost
   * nothing: it does not show yet what waits for a synchronous standby, and other reads do not go back to it.
   */
  async #acceptOlder(state: IndexState | null): Promise<null> {
    const { served, watch, onReset } = this.#options;
    if (state?.revision !== this.#lateRevision) await watch.sample();
    this.#lateRevision = state?.revision ?? null;
    if (state && watch.hasChangedLately && isOlder(state, served.newest)) {
      served.reset(state);
      onReset();
    }
    return null;
  }
}

/** The rows are older than what was needed: the server is another one, or has stepped back. */
class SourceBehind extends Error {
  constructor() {
    super("the server has an older state of the index than the read needs");
  }
}

// Errors that would be the same on another server: too slow, or too many rows. Anything else may be right on another
// server: a connection that broke, a conflict with replay, a table that is not there yet.
const FINAL_CODES: ReadonlySet<string> = new Set(["TIMED_OUT", "OVERLOADED"]);

function isRepeatable(failure: unknown): boolean {
  if (!(failure instanceof Fault) || !FINAL_CODES.has(failure.code)) return true;
  return failure.cause instanceof Error && /conflict with recovery/.test(failure.cause.message);
}

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
