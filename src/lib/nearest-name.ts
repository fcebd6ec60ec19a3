// Finds the name that a typo most likely stands for.

// With more changes, and for short names more than a third, two names have nothing in common.
const CHANGES_MAX = 3;

/** Null if no name is near. */
export function nearestName(typed: string, names: Iterable<string>): string | null {
  let best: { readonly name: string; readonly changes: number } | null = null;
  // The dashes of an option are always right, and must not allow for more changes.
  const { length } = typed.replace(/^-+/, "");
  const changesMax = Math.min(CHANGES_MAX, Math.ceil(length / 3));
  for (const name of names) {
    const changes = countChanges(typed, name);
    if (changes <= changesMax && (best === null || changes < best.changes)) best = { name, changes };
  }
  return best?.name ?? null;
}

/** The end of an error about a name: the nearest one, and what else to do. */
export function suggestName(typed: string, names: Iterable<string>, hint: string): string {
  const nearest = nearestName(typed, names);
  return nearest === null ? hint : `did you mean ${nearest}? Or ${hint}`;
}

/** Damerau-Levenshtein: letters that are missing, added, wrong, or swapped with their neighbour. */
function countChanges(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
