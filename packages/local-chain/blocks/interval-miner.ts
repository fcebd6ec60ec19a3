// Mines on a timer. Our own, because EDR's would mine without a snapshot.

/** Below this the timer, not the chain, is what a test would measure. */
export const BLOCK_TIME_MS_MIN = 10;

/** setTimeout fires at once beyond 2^31-1 ms; a day is long enough for any block time. */
export const BLOCK_TIME_MS_MAX = 86_400_000;

export class IntervalMiner {
  readonly #mine: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(mine: () => Promise<void>) {
    this.#mine = mine;
  }

  start(blockTimeMs: number): void {
    this.stop();
    this.#schedule(blockTimeMs, performance.now() + blockTimeMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(blockTimeMs: number, dueAt: number): void {
    const timer = setTimeout(
      async () => {
        // No caller could handle a failure: let it be an unhandled rejection instead of a chain that silently stops.
        await this.#mine();
        // Skip late blocks instead of mining a burst; the schedule does not drift.
        if (this.#timer === timer)
          this.#schedule(blockTimeMs, Math.max(dueAt + blockTimeMs, performance.now()));
      },
      Math.max(0, dueAt - performance.now()),
    );
    this.#timer = timer;
  }
}
