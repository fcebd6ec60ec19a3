// The servers to read the index from: the readers and the known state of each, and the choice of one for a read.
import type { RunRead } from "../../schema/reads/read.ts";

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
