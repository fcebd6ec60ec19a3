// Samples the primary: what replicas must have replayed and since when, and which state of the index is the truth.
import type { QueryRunner } from "../postgres/session.ts";
import { type IndexState, isOlder } from "./read-source.ts";
import { readCluster, type ServerSample, sampleServer, withinSampleTime } from "./server-sample.ts";

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
