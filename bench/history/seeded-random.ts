// The draws of a generated history: the same seed gives the same history.
import { seededRandom } from "../../tests/support/seeded-random.ts";

export type SeededDraws = {
  /** A number in [0, 1). */
  roll(): number;
  /** A whole number in [min, max]. */
  between(min: number, max: number): number;
  /** Whether something happens that happens so often. */
  chance(probability: number): boolean;
  /** One of 0 to count - 1; low numbers more often than high ones, as a few are always busier than the rest. */
  skewed(count: number): number;
};

export function createSeededDraws(seed: number): SeededDraws {
  const roll = seededRandom(seed);
  return {
    roll,
    between: (min, max) => min + Math.floor(roll() * (max - min + 1)),
    chance: (probability) => roll() < probability,
    skewed: (count) => Math.floor(roll() ** 2 * count),
  };
}
