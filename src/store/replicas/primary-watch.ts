// Samples the primary: what replicas must have replayed, and which state of the index is the truth.
import type { QueryRunner } from "../postgres/session.ts";
import { type ServerSample, sampleServer, withinSampleTime } from "./server-sample.ts";
import { WalPositions } from "./wal-positions.ts";

export class PrimaryWatch {
  readonly positions = new WalPositions();
  readonly #database: QueryRunner;
  #latest: ServerSample | null = null;
  #recordsPosition: bigint | null = null;
  #recordWrites = 0;
  #running: Promise<ServerSample | null> | null = null;
  #next: Promise<ServerSample | null> | null = null;

  constructor(database: QueryRunner) {
    this.#database = database;
  }

  /** Null while the primary does not respond. */
  get latest(): ServerSample | null {
    return this.#latest;
  }

  /** Where a server must be that shows every record that clients have written; null while only the primary does. */
  get recordsPosition(): bigint | null {
    return this.#recordsPosition;
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
      const sample = await withinSampleTime(sampleServer(this.#database));
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
}
