// The servers to read the index from: the state of each, the samples of the primary, and the choice of one for a read.
import type { RunRead } from "../../schema/reads/read.ts";
import type { QueryRunner } from "../postgres/session.ts";

/** A state of the index as a reader met it. */
export type IndexState = {
  readonly revision: bigint;
  readonly number: bigint;
  readonly hash: string;
};

export function isOlder(state: IndexState, than: IndexState | null): boolean {
  return than !== null && state.revision < than.revision;
}

/**
 * The newest state that this process has served. Reads never go behind it, whichever server they use. Only the primary may lower it: a fail-over can lose commits, and
 * an index can be created again.
 */
export class ServedState {
  #newest: IndexState | null = null;

  get newest(): IndexState | null {
    return this.#newest;
  }

  observe(state: IndexState): void {
    if (!isOlder(state, this.#newest)) this.#newest = state;
  }

  /** Null until the primary has been read. */
  reset(state: IndexState | null): void {
    this.#newest = state;
  }
}

export type SourceReaders = {
  /** Quick and slow reads. */
  readonly index: RunRead;
  /** Pages of past events, on connections of their own. */
  readonly history: RunRead;
  /** Drops all connections, so that reads on them fail at once; later ones open new connections. */
  disconnect(): void;
  close(): Promise<void>;
};

export class ReadSource {
  readonly name: string;
  readonly readers: SourceReaders;
  inFlight = 0;
  /** Everything up to here has been replayed. */
  position = 0n;
  lagMs = 0;
  #state: IndexState | null = null;
  /** Why reads do not use it; null while they do. */
  #problem: string | null = "it has not been reached yet";

  constructor(name: string, readers: SourceReaders) {
    this.name = name;
    this.readers = readers;
  }

  get state(): IndexState | null {
    return this.#state;
  }

  get problem(): string | null {
    return this.#problem;
  }

  get isInRotation(): boolean {
    return this.#problem === null;
  }

  /** For people who operate it. */
  describe(): Readonly<Record<string, unknown>> {
    return {
      server: this.name,
      in_rotation: this.isInRotation,
      problem: this.#problem,
      lag_ms: this.lagMs,
      block_number: this.#state?.number.toString() ?? null,
    };
  }

  /** A read met this state, perhaps an earlier one than the last sample. */
  observe(state: IndexState): void {
    if (!isOlder(state, this.#state)) this.#state = state;
  }

  /** The present state, whatever it was before. */
  correct(state: IndexState): void {
    this.#state = state;
  }

  admit(): void {
    this.#problem = null;
  }

  leave(problem: string): void {
    this.#problem = problem;
  }
}

export type ReadNeeds = {
  /** The newest state that was served when the read began. */
  readonly floor: IndexState | null;
  /** A block that must be indexed there; null for any. */
  readonly atLeast: bigint | null;
  /** A position of the write-ahead log that must be replayed there; null for any. */
  readonly position: bigint | null;
};

type Candidate = Pick<ReadSource, "isInRotation" | "state" | "position" | "inFlight">;

/** `turn` breaks ties, so that idle replicas take turns. Null if none fits. */
export function chooseSource<S extends Candidate>(
  sources: readonly S[],
  needs: ReadNeeds,
  tried: ReadonlySet<S>,
  turn: number,
): S | null {
  let best: S | null = null;
  for (let at = 0; at < sources.length; at += 1) {
    const source = sources[(at + turn) % sources.length];
    if (source === undefined || tried.has(source) || !isSufficient(source, needs)) continue;
    if (best === null || source.inFlight < best.inFlight) best = source;
  }
  return best;
}

function isSufficient({ isInRotation, state, position }: Candidate, needs: ReadNeeds): boolean {
  if (!isInRotation || state === null || isOlder(state, needs.floor)) return false;
  if (needs.atLeast !== null && state.number < needs.atLeast) return false;
  return needs.position === null || position >= needs.position;
}

// Until then a replica that followed the server before may show what the new one has lost.
const CHANGE_MS_MAX = 60_000;

export class PrimaryWatch {
  readonly positions = new WalPositions();
  readonly #database: QueryRunner;
  readonly #onStepBack: (state: IndexState) => void;
  #latest: ServerSample | null = null;
  #cluster: { readonly name: string; readonly server: string } | null = null;
  #changedMs = Number.NEGATIVE_INFINITY;
  /** The newest state that the primary has shown itself. */
  #shown: IndexState | null = null;
  #recordsPosition: bigint | null = null;
  #recordWrites = 0;
  #running: Promise<ServerSample | null> | null = null;
  #next: Promise<ServerSample | null> | null = null;

  /** `onStepBack` is called when the primary is older than it was: its index was created again. */
  constructor(database: QueryRunner, onStepBack: (state: IndexState) => void) {
    this.#database = database;
    this.#onStepBack = onStepBack;
  }

  /** Null while the primary does not respond. */
  get latest(): ServerSample | null {
    return this.#latest;
  }

  /** The cluster and database that its replicas are copies of; null until it has responded once. */
  get cluster(): string | null {
    return this.#cluster?.name ?? null;
  }

  /** Whether another server, or a new run of it, is the primary, or its index was created again. */
  get hasChangedLately(): boolean {
    return performance.now() - this.#changedMs < CHANGE_MS_MAX;
  }

  /** The position at which a server shows every record that clients have written; null while only the primary does. */
  get recordsPosition(): bigint | null {
    return this.#recordsPosition;
  }

  /** A read of the primary met this state. */
  observe(state: IndexState): void {
    if (!isOlder(state, this.#shown)) this.#shown = state;
  }

  /** A client has written a record, here or elsewhere. */
  onRecordsWritten(): void {
    this.#recordWrites += 1;
    this.#recordsPosition = null;
    void this.sample();
  }

  /** A sample that begins after the call; null if the primary does not respond. */
  sample(): Promise<ServerSample | null> {
    if (this.#running === null) return this.#start();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<ServerSample | null> {
    const run = this.#read().finally(() => {
      this.#running = null;
    });
    this.#running = run;
    return run;
  }

  async #read(): Promise<ServerSample | null> {
    const writes = this.#recordWrites;
    try {
      const sample = await withinSampleTime(this.#readSample());
      this.#latest = sample;
      this.positions.add(sample.position, performance.now());
      if (writes === this.#recordWrites) this.#recordsPosition = sample.position;
      return sample;
    } catch {
      // Requests that need the primary report what is wrong with it.
      this.#latest = null;
      return null;
    }
  }

  /** The cluster is read once from each run of a server: it may be another one behind the same name. */
  async #readSample(): Promise<ServerSample> {
    const shownBefore = this.#shown;
    const sample = await sampleServer(this.#database);
    const { server, state } = sample;
    if (this.#cluster?.server === server) {
      if (state) this.#compare(state, shownBefore);
      return sample;
    }
    const name = await readCluster(this.#database);
    // Samples of another server say nothing about this one.
    if (this.#cluster !== null) {
      this.#changedMs = performance.now();
      this.#shown = state;
    }
    this.#cluster = { name, server };
    return sample;
  }

  /**
   * A commit that waits for a synchronous standby keeps the primary behind its replicas, but never behind what it has
   * shown itself before the sample began. Replicas may show the index of before for a moment more.
   */
  #compare(state: IndexState, shownBefore: IndexState | null): void {
    if (!isOlder(state, shownBefore)) {
      this.observe(state);
      return;
    }
    this.#shown = state;
    this.#changedMs = performance.now();
    this.#onStepBack(state);
  }
}

type Sample = { readonly position: bigint; readonly atMs: number };

// Samples of each kind. Recent ones come once a second, and with every change of the index.
const SAMPLES_MAX = 1_000;
// Samples that are kept for sixteen hours: the longest lag that can be allowed is an hour.
const SPARSE_EVERY_MS = 60_000;

/** The position of the primary's write-ahead log over time: it shows for how long a replica has been missing something. */
export class WalPositions {
  #recent: Sample[] = [];
  #sparse: Sample[] = [];

  add(position: bigint, atMs: number): void {
    const last = this.#recent.at(-1);
    if (last?.position === position) return;
    // After a fail-over the log may continue from an earlier position.
    if (last && position < last.position) {
      this.#recent = [];
      this.#sparse = [];
    }
    const sample = { position, atMs };
    append(this.#recent, sample);
    const sparse = this.#sparse.at(-1);
    if (!sparse || atMs - sparse.atMs >= SPARSE_EVERY_MS) append(this.#sparse, sample);
  }

  /**
   * 0 for a replica that has replayed all that was seen, also while the primary is idle or down. A lag that began
   * before the recent samples is up to a minute longer than what is returned.
   */
  lagMs(replayed: bigint, nowMs: number): number {
    const isMissing = ({ position }: Sample) => position > replayed;
    const missing = [this.#sparse.find(isMissing), this.#recent.find(isMissing)];
    return Math.max(0, ...missing.map((sample) => (sample ? nowMs - sample.atMs : 0)));
  }
}

function append(samples: Sample[], sample: Sample): void {
  samples.push(sample);
  if (samples.length > SAMPLES_MAX) samples.shift();
}

export type ServerSample = {
  readonly isReplica: boolean;
  /** Tells servers apart, and runs of one server: when it started, to the microsecond. */
  readonly server: string;
  /** Written on a primary, replayed on a replica; everything committed before it can be read there. */
  readonly position: bigint;
  /** Null if nothing is indexed. */
  readonly state: IndexState | null;
};

const SAMPLE = {
  name: "server_sample",
  text: `select pg_is_in_recovery() as replica, pg_postmaster_start_time()::text as server,
      coalesce(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn, 0)::text as position,
      h.revision::text, h.block_number::text as number, encode(h.block_hash, 'hex') as hash
    from (values (1)) one left join checkpoint h on true`,
};

type SampleRow = {
  readonly replica: boolean;
  readonly server: string;
  readonly position: string;
  readonly revision: string | null;
  readonly number: string | null;
  readonly hash: string | null;
};

export async function sampleServer(session: QueryRunner): Promise<ServerSample> {
  const { rows } = await session.query<SampleRow>(SAMPLE);
  const [row] = rows;
  if (!row) throw new Error("a server has no sample");
  const { revision, number, hash } = row;
  const isIndexed = revision !== null && number !== null && hash !== null;
  return {
    isReplica: row.replica,
    server: row.server,
    position: BigInt(row.position),
    state: isIndexed ? { revision: BigInt(revision), number: BigInt(number), hash: `0x${hash}` } : null,
  };
}

// The identifier is made by initdb and copied with the data; a database keeps its number on every copy.
const CLUSTER = {
  text: `select system_identifier::text || '/' || oid::text as cluster
    from pg_control_system(), pg_database where datname = current_database()`,
};

/** Equal on the servers that have the same database as copies of each other, and on no others. */
export async function readCluster(session: QueryRunner): Promise<string> {
  const { rows } = await session.query<{ cluster: string }>(CLUSTER);
  const [row] = rows;
  if (!row) throw new Error("a server does not identify itself");
  return row.cluster;
}

// A server that is alive responds within milliseconds; one that vanished never does.
const SAMPLE_MS_MAX = 2_000;

/** Rejects after two seconds, whatever the connection does. */
export async function withinSampleTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the server did not respond in time")), SAMPLE_MS_MAX);
  });
  // The loser may fail later, when no one waits for it.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
