// Observations of a run: counts of what happened, and every violation.

export type Observations = {
  count(kind: string, by?: number): void;
  counted(kind: string): number;
  readonly counts: ReadonlyMap<string, number>;
  /** Something that must never happen did. */
  recordViolation(what: string): void;
  /** Number of violations, including those not stored. */
  readonly violationCount: number;
  readonly violations: readonly string[];
};

// One defect may show a thousand times; the first few identify it.
const TOLD_MAX = 50;
const TOLD_LENGTH_MAX = 2_000;

export function createObservations(): Observations {
  const counts = new Map<string, number>();
  const wrongs: string[] = [];
  let wrongCount = 0;
  return {
    counts,
    violations: wrongs,
    get violationCount() {
      return wrongCount;
    },
    count: (kind, by = 1) => void counts.set(kind, (counts.get(kind) ?? 0) + by),
    counted: (kind) => counts.get(kind) ?? 0,
    recordViolation(what) {
      wrongCount += 1;
      if (wrongs.length < TOLD_MAX) wrongs.push(what.slice(0, TOLD_LENGTH_MAX));
    },
  };
}
