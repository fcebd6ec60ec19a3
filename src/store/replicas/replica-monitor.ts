// Follows one replica: samples it every second, quickly after a change, and decides whether reads may use it.
import type { Client } from "pg";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../postgres/database.ts";
import { openStatements } from "../postgres/session.ts";
import {
  type IndexState,
  type PrimaryWatch,
  type ReadSource,
  readCluster,
  type ServerSample,
  sampleServer,
  withinSampleTime,
} from "./read-source.ts";

type ReplicaMonitorOptions = {
  readonly source: ReadSource;
  readonly database: Database;
  readonly watch: PrimaryWatch;
  readonly lagMsMax: number;
  /** The replica shows this state of the index; only while reads may use it. */
  readonly onState: (state: IndexState) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const SAMPLE_MS = 1_000;
// A replica shows a block a few milliseconds after the primary. Fifty samples a second are a thousandth of what it serves.
const QUICK_SAMPLE_MS = 20;
// One that needs longer is found by the sample of the next second.
const QUICK_MS_MAX = 1_000;
// Longer than the sample may take: the connection is dropped then.
const SAMPLE_STATEMENT_MS_MAX = 5_000;

export class ReplicaMonitor {
  readonly #options: ReplicaMonitorOptions;
  readonly #clock: Clock = systemClock;
  #client: Client | null = null;
  /** The identity of the connection's server; null until it is read. */
  #cluster: string | null = null;
  #wanted: { readonly revision: bigint; readonly untilMs: number } | null = null;
  #wake: (() => void) | null = null;
  /** It has what the primary never wrote: only a copy made from nothing, and so a restart, repairs that. */
  #hasDiverged = false;

  constructor(options: ReplicaMonitorOptions) {
    this.#options = options;
  }

  /** The primary has this revision: check whether the replica has it too. */
  expect(revision: bigint): void {
    this.#wanted = { revision, untilMs: performance.now() + QUICK_MS_MAX };
    this.#wake?.();
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const stop = () => this.#wake?.();
    signal.addEventListener("abort", stop);
    while (!signal.aborted) {
      await this.#sample();
      if (!signal.aborted) await this.#pause(this.#isWaiting() ? QUICK_SAMPLE_MS : SAMPLE_MS);
    }
    signal.removeEventListener("abort", stop);
    await this.#disconnect();
  }

  #isWaiting(): boolean {
    const { source } = this.#options;
    if (this.#wanted === null || !source.isInRotation || source.state === null) return false;
    const isOver =
      source.state.revision >= this.#wanted.revision || performance.now() >= this.#wanted.untilMs;
    if (isOver) this.#wanted = null;
    return !isOver;
  }

  async #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#clock.sleep(ms, woken.signal).catch(() => undefined);
    this.#wake = null;
  }

  async #sample(): Promise<void> {
    const { source, database, onState } = this.#options;
    try {
      const client = this.#client ?? (await this.#connect());
      const limits = { target: database.target, statementTimeoutMs: SAMPLE_STATEMENT_MS_MAX };
      const session = openStatements(client, limits);
      this.#cluster ??= await withinSampleTime(readCluster(session));
      const sample = await withinSampleTime(sampleServer(session));
      const problem = await this.#judge(sample);
      source.position = sample.position;
      if (sample.state) source.correct(sample.state);
      if (problem !== null) return this.#leave(problem);
      this.#admit();
      if (sample.state) onState(sample.state);
    } catch (error) {
      this.#leave(error instanceof Error ? error.message : String(error));
      // Reads on its connections would wait for a server that is gone.
      source.readers.disconnect();
      await this.#disconnect();
    }
  }

  /** Why reads must not use the server; null if they may. */
  async #judge(sample: ServerSample): Promise<string | null> {
    const { source, watch, lagMsMax } = this.#options;
    source.lagMs = Math.round(watch.positions.lagMs(sample.position, performance.now()));
    if (watch.cluster === null) await watch.sample();
    // Positions and revisions say nothing between databases that are not copies of each other.
    if (watch.cluster === null) return "it cannot be compared with the primary yet";
    if (this.#cluster !== watch.cluster) return "it is not a copy of the primary's database";
    if (sample.state === null) return "it has no index yet";
    // Rows of replicas stay readable without a primary.
    if (watch.latest === null) return null;
    if (sample.position > watch.latest.position) {
      const primary = await watch.sample();
      if (primary && sample.isReplica && sample.position > primary.position) this.#hasDiverged = true;
    }
    if (!sample.isReplica && watch.latest && sample.server !== watch.latest.server) {
      return "it is neither the primary nor a replica";
    }
    if (this.#hasDiverged) return "it has what the primary never wrote";
    // Comes back at half of the limit, so that it does not leave again at once.
    const limit = source.isInRotation ? lagMsMax : lagMsMax / 2;
    return source.lagMs > limit ? "it is too far behind the primary" : null;
  }

  #admit(): void {
    const { source, log } = this.#options;
    if (source.isInRotation) return;
    source.admit();
    const { name: replica, lagMs } = source;
    log.info({ component: "store", event: "replica_joined", replica, lagMs }, "Reads use a replica");
  }

  #leave(reason: string): void {
    const { source, log } = this.#options;
    // The problem may be there already: a read has met it first.
    if (source.problem === reason) return;
    source.leave(reason);
    const { name: replica, lagMs } = source;
    log.warn(
      { component: "store", event: "replica_left", replica, lagMs, reason },
      "Reads do not use a replica",
    );
  }

  async #connect(): Promise<Client> {
    const client = await this.#options.database.connect("monitor");
    this.#hasDiverged = false;
    this.#cluster = null;
    this.#client = client;
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    // A server that vanished never confirms the end.
    client?.connection.stream.destroy();
    await client?.end().catch(() => undefined);
  }
}
