// Bounds the bodies of sold reads that this process has put into the database: in all, and of one signer once half is used.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";

type StoredBytesOptions = {
  readonly bytesMax: number;
  /** The largest body. */
  readonly bodyBytesMax: number;
  /** How long a body stays. */
  readonly storedMs: number;
  /** Never goes back: by a clock that was ahead, bodies would count until it is there again. */
  readonly clock?: Pick<Clock, "nowMs">;
};

type Second = { bytes: number; readonly bySigner: Map<string, number> };

const SECOND_MS = 1_000;
const MONOTONIC = { nowMs: () => performance.now() };
// The space is worth cents to fill. A signer must not close the sale for all others, nor a few dozen that take turns: each
// leaves most of what it finds.
const SHARE_DIVISOR = 8;
const FREE_FOR_ALL_DIVISOR = 2;

export class StoredBytes {
  readonly #options: Required<StoredBytesOptions>;
  /** Bodies by the second in which they were stored, the oldest first. */
  readonly #seconds = new Map<number, Second>();
  readonly #bySigner = new Map<string, number>();
  #sum = 0;

  constructor(options: StoredBytesOptions) {
    this.#options = { clock: MONOTONIC, ...options };
  }

  /** Throws before a read runs that could not be stored. */
  check(signer: string): void {
    this.#expectRoom(signer, this.#options.bodyBytesMax);
  }

  /** Counts a body before it is charged; throws a fault that costs the payer nothing if there is no room for it. */
  take(signer: string, bytes: number): void {
    const second = this.#expectRoom(signer, bytes);
    const stored = this.#seconds.get(second) ?? { bytes: 0, bySigner: new Map<string, number>() };
    this.#seconds.set(second, stored);
    stored.bytes += bytes;
    this.#sum += bytes;
    for (const each of [stored.bySigner, this.#bySigner]) each.set(signer, (each.get(signer) ?? 0) + bytes);
  }

  /** Returns the current second. */
  #expectRoom(signer: string, bytes: number): number {
    const second = Math.floor(this.#options.clock.nowMs() / SECOND_MS);
    const kept = Math.ceil(this.#options.storedMs / SECOND_MS);
    for (const [at, stored] of this.#seconds) {
      if (at + kept > second) break;
      this.#drop(at, stored);
    }
    let sum = this.#sum + bytes;
    let own = (this.#bySigner.get(signer) ?? 0) + bytes;
    if (this.#fits(sum, own)) return second;
    const what =
      sum > this.#options.bytesMax
        ? "The space for stored responses of sold reads is full"
        : "This signer's share of the space for stored responses of sold reads is full";
    let retryAfterSeconds = kept;
    for (const [at, stored] of this.#seconds) {
      sum -= stored.bytes;
      own -= stored.bySigner.get(signer) ?? 0;
      if (!this.#fits(sum, own)) continue;
      retryAfterSeconds = Math.max(1, at + kept - second);
      break;
    }
    throw new Fault("OVERLOADED", `${what}; try again in ${retryAfterSeconds} seconds.`, {
      retryAfterSeconds,
    });
  }

  #fits(sum: number, own: number): boolean {
    const { bytesMax } = this.#options;
    const free = bytesMax - sum;
    return free >= 0 && (sum <= bytesMax / FREE_FOR_ALL_DIVISOR || own <= free / SHARE_DIVISOR);
  }

  #drop(at: number, stored: Second): void {
    this.#seconds.delete(at);
    this.#sum -= stored.bytes;
    for (const [signer, bytes] of stored.bySigner) {
      const left = (this.#bySigner.get(signer) ?? 0) - bytes;
      if (left > 0) this.#bySigner.set(signer, left);
      else this.#bySigner.delete(signer);
    }
  }
}
