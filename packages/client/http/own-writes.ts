// Remembers what the client has written itself: for a while its reads go past caches that may not know of it.

// A process that is no longer notified of changes notices that within eleven seconds, and caches nothing from then on.
const RECENT_MS = 15_000;

export class OwnWrites {
  readonly #now: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Before it is sent: a write whose response is lost may have happened. */
  record(): void {
    this.#lastMs = this.#now();
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#now() - this.#lastMs < RECENT_MS ? { "cache-control": "no-cache" } : {};
  }
}
