// A lower bound of what is left of a daily limit, without reading the chain.

/** A window of the policy module is a day from the first spend. */
const WINDOW_SECONDS = 86_400n;

/** The time of the next block is known only roughly: close to its end, the old window is assumed to hold. */
const UNCERTAINTY_SECONDS = 60n;

export class SpendWindow {
  /** 0 for no limit. */
  max: bigint;
  #spent = 0n;
  #since = 0n;

  constructor(max: bigint) {
    this.max = max;
  }

  /** The most that can surely be spent now, at most `most`. */
  available(now: bigint, most: bigint): bigint {
    if (this.max === 0n) return most;
    const spent = now >= this.#since + WINDOW_SECONDS + UNCERTAINTY_SECONDS ? 0n : this.#spent;
    const left = this.max > spent ? this.max - spent : 0n;
    return left < most ? left : most;
  }

  /** Takes the total that the chain reported after a spend. */
  report(amount: bigint, total: bigint, now: bigint): void {
    if (total === amount) this.#since = now;
    this.#spent = total;
  }
}
