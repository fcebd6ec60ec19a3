// Lists of which some items depend on a condition, lists by a key, and long lists in a sentence.

/** The items that are there: `keepPresent(isLate && "The node is late.", ...others)`. */
export function keepPresent<T>(...items: readonly (T | false | null | undefined)[]): readonly T[] {
  return items.filter((item): item is T => item !== false && item !== null && item !== undefined);
}

/** The items of each key, in order; keys in the order of their first item. */
export function groupBy<Key, T>(items: Iterable<T>, keyOf: (item: T) => Key): ReadonlyMap<Key, readonly T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The first ones by name, and how many more there are: `0xa, 0xb and 4 more`. */
export function nameFirst(names: readonly string[], count: number): string {
  const named = names.slice(0, count).join(", ");
  return names.length > count ? `${named} and ${names.length - count} more` : named;
}
