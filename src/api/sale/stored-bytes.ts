// Bounds the bodies of sold reads that this process has put into the database: so many bytes at a time, for as long as each is stored.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";

type StoredBytesOptions = {
  readonly bytesMax: number;
  /** How long a body stays. */
  readonly storedMs: number;
  readonly clock: Pick<Clock, "nowMs">;
};

const SECOND_MS = 1_000;

export class StoredBytes {
  readonly #options: StoredBytesOptions;
  /** Bytes by the second in which they were stored, the oldest first. */
  readonly #seconds = new Map<number, number>();
  #sum = 0;

  constructor(options: StoredBytesOptions) {
    this.#options = options;
  }

  /** Counts a body before it is charged; throws a fault that costs the payer nothing if there is no room for it. */
  take(bytes: number): void {
    const { bytesMax, storedMs, clock } = this.#options;
    const second = Math.floor(clock.nowMs() / SECOND_MS);
    const kept = Math.ceil(storedMs / SECOND_MS);
    for (const [stored, sum] of this.#seconds) {
      if (stored + kept > second) break;
      this.#seconds.delete(stored);
      this.#sum -= sum;
    }
    if (this.#sum + bytes > bytesMax) {
      const [oldest = second] = this.#seconds.keys();
      const retryAfterSeconds = Math.max(1, oldest + kept - second);
      throw new Fault("OVERLOADED", "The space for responses of sold reads is used up.", {
        retryAfterSeconds,
      });
    }
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + bytes);
    this.#sum += bytes;
  }
}
