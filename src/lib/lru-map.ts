// A map of limited size that forgets the least recently set key first, in constant time.

type Entry<K, V> = {
  readonly key: K;
  value: V;
  older: Entry<K, V> | null;
  newer: Entry<K, V> | null;
};

/**
 * The order is a linked list: to find the first key of a plain Map, V8 walks over the holes that deleted keys left, tens of
 * thousands of them in a large map.
 */
export class LruMap<K, V> {
  readonly #sizeMax: number;
  readonly #entries = new Map<K, Entry<K, V>>();
  #oldest: Entry<K, V> | null = null;
  #newest: Entry<K, V> | null = null;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Makes the key the newest. */
  set(key: K, value: V): void {
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#entries.size >= this.#sizeMax) this.#evictOldest();
      const entry = { key, value, older: null, newer: null };
      this.#entries.set(key, entry);
      this.#append(entry);
      return;
    }
    known.value = value;
    if (known === this.#newest) return;
    this.#unlink(known);
    this.#append(known);
  }

  #evictOldest(): void {
    if (this.#oldest === null) return;
    this.#entries.delete(this.#oldest.key);
    this.#unlink(this.#oldest);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = null;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
  }
}
