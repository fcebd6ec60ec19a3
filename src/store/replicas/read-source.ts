// A server to read the index from: its readers, and what is known of its state.
import type { RunRead } from "../../schema/reads/read.ts";
import { type IndexState, isOlder } from "./index-state.ts";

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
