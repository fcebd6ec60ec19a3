// One deployment of Compound v2 or of a fork: its comptroller and the markets that it had when the data was taken.
import type { Hex } from "../../../lib/hex.ts";

/** Addresses are lower-case. */
export type CompoundV2Pool = {
  readonly name: string;
  readonly comptroller: Hex;
  /** The market of the native coin itself, which has no underlying token; null without one. */
  readonly nativeMarket: Hex | null;
  /** As of the data file; the reader asks the comptroller which of them it lists, and for newer ones. */
  readonly markets: readonly Hex[];
};

/** What differs between Compound v2 and its forks. */
export type CompoundV2Protocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  /** A wallet can let others act in its comptroller. */
  readonly hasDelegates?: true;
};
