// A state of the index as a reader met it, and the newest one that this process has served.

export type IndexState = {
  readonly revision: bigint;
  readonly number: bigint;
  readonly hash: string;
};

export function isOlder(state: IndexState, than: IndexState | null): boolean {
  return than !== null && state.revision < than.revision;
}

/**
 * Reads never go behind it, whichever server they use. Only the primary may lower it: a fail-over can lose commits, and
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
