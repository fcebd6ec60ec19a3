// Chance that repeats itself: the same seed gives the same numbers.

/** The seed in TEST_SEED, which makes a run repeat another one; null without it. */
export function givenSeed(): number | null {
  const text = process.env.TEST_SEED;
  if (text === undefined) return null;
  if (!/^-?\d{1,10}$/.test(text)) throw new Error(`TEST_SEED must be a whole number, not "${text}".`);
  return Number(text);
}

/** For a test that takes long: the seed in TEST_SEED, never negative, otherwise a new one for each run. */
export function chooseSeed(): number {
  return (givenSeed() ?? 1 + Math.floor(Math.random() * 1_000_000)) >>> 0;
}

/** Numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
