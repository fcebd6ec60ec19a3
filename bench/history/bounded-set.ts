// The things that something may still happen to: drawn at random, and never more than a bound.
import type { SeededDraws } from "./seeded-random.ts";

type BoundedSet<T> = {
  readonly size: number;
  /** When the set is full, another one is left alone from now on. */
  add(item: T): void;
  pick(): T | null;
  take(): T | null;
};

export function createBoundedSet<T>(dice: SeededDraws, sizeMax: number): BoundedSet<T> {
  const items: T[] = [];
  const takeAt = (index: number): T | null => {
    const item = items[index];
    const last = items.pop();
    if (item === undefined || last === undefined) return null;
    if (index < items.length) items[index] = last;
    return item;
  };
  const anyIndex = () => Math.floor(dice.roll() * items.length);
  return {
    get size() {
      return items.length;
    },
    add(item) {
      if (items.length >= sizeMax) takeAt(anyIndex());
      items.push(item);
    },
    pick: () => items[anyIndex()] ?? null,
    take: () => takeAt(anyIndex()),
  };
}
