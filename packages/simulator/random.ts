// Seeded random numbers, the simulator's only source of choice: the same seed gives the same numbers.
import type { Hex } from "viem";

/** An odd constant near 2^32 divided by the golden ratio: the counter visits every word before it repeats one. */
const STRIDE = 0x9e3779b9;

const WORDS = 2 ** 32;

export class Random {
  #counter: number;

  constructor(seed: number) {
    if (!Number.isInteger(seed) || seed < 0 || seed >= WORDS) {
      throw new RangeError(`A seed is a whole number from 0 to ${WORDS - 1}, not ${seed}`);
    }
    this.#counter = seed;
  }

  /** 32 uniform bits: a counter and a mixing function. */
  word(): number {
    this.#counter = (this.#counter + STRIDE) >>> 0;
    let bits = this.#counter;
    bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
    return (bits ^ (bits >>> 16)) >>> 0;
  }

  /** 0 to limit - 1. */
  below(limit: number): number {
    return Math.floor((this.word() / WORDS) * limit);
  }

  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** A whole number between the two, both included. */
  between(min: bigint, max: bigint): bigint {
    // 64 bits more than the span needs make the bias of the remainder too small to matter.
    let bits = 0n;
    for (let have = 1n; have <= (max - min + 1n) << 64n; have <<= 32n)
      bits = (bits << 32n) | BigInt(this.word());
    return min + (bits % (max - min + 1n));
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined) throw new RangeError("Nothing to pick from");
    return chosen;
  }

  /** 32 bytes, for hashes of documents that do not exist. */
  bytes32(): Hex {
    let digits = "";
    for (let words = 0; words < 8; words += 1) digits += this.word().toString(16).padStart(8, "0");
    return `0x${digits}`;
  }

  address(): Hex {
    return this.bytes32().slice(0, 42) as Hex;
  }
}
