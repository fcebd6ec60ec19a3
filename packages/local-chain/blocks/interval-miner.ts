// The block clock of an interval chain: our own timer, because EDR's would mine behind the history's back.

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
        // A failure to mine has no caller to tell: it surfaces as an unhandled rejection rather than a chain that silently stands still.
        await this.#mine();
        // Late blocks are skipped, not made up for in a burst; the rhythm itself does not drift.
        if (this.#timer === timer)
          this.#schedule(blockTimeMs, Math.max(dueAt + blockTimeMs, performance.now()));
      },
      Math.max(0, dueAt - performance.now()),
    );
    this.#timer = timer;
  }
}
