// Amounts and jumps in time that find the edges of spend windows and limits.
import fc from "fast-check";
import { MODEL_UINT256_MAX, WINDOW_SECONDS } from "./policy-model.ts";

/** Times around the end of a window, which are prone to mistakes, and others. */
export const jumpArb = fc.oneof(
  fc.constantFrom(0n, 1n, WINDOW_SECONDS - 1n, WINDOW_SECONDS, WINDOW_SECONDS + 1n, WINDOW_SECONDS / 2n),
  fc.bigInt(0n, 3n * WINDOW_SECONDS),
);
export const smallArb = fc.bigInt(0n, 12n);
export const amountArb = fc.oneof(
  { weight: 9, arbitrary: smallArb },
  { weight: 1, arbitrary: fc.constantFrom(MODEL_UINT256_MAX, MODEL_UINT256_MAX - 5n) },
);
