// Chance that repeats itself: the same seed gives the same draws.

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
  let state = seed >>> 0;
  // mulberry32
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    roll,
    between: (min, max) => min + Math.floor(roll() * (max - min + 1)),
    chance: (probability) => roll() < probability,
    skewed: (count) => Math.floor(roll() ** 2 * count),
  };
}
