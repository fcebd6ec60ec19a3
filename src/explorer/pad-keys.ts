// Keeps the number of different statements small, because PostgreSQL keeps each text that it ever prepared.

/** Repeats a key up to a fixed number: the reads of a page are one statement. */
export function padKeys(keys: ReadonlySet<string>, count: number): readonly string[] {
  const [first] = keys;
  return first === undefined ? [] : [...keys, ...Array<string>(Math.max(0, count - keys.size)).fill(first)];
}
