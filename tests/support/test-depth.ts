// How deep property, fuzz, seeded and chaos tests go: a part of their runs on a landing, all in `npm run test:deep`.

// Fewer would say little about a rule that holds for every input.
const RUNS_MIN = 3;
const SHARE = 16;

/** Whether this is the project `deep`, which runs every file that asks here again. */
export function isFullDepth(): boolean {
  return process.env.TEST_DEPTH === "full";
}

/** Runs of a property: all of them at full depth, else a sixteenth, but at least `min`. */
export function runsOf(full: number, { min = RUNS_MIN }: { readonly min?: number } = {}): number {
  return isFullDepth() ? full : Math.min(full, Math.max(min, Math.ceil(full / SHARE)));
}

/** Seeds and variants of one rule: all of them at full depth, else the first. */
export function casesOf<T>(first: T, ...others: readonly T[]): readonly T[] {
  return isFullDepth() ? [first, ...others] : [first];
}
