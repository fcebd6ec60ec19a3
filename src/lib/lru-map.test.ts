// The LRU map keeps what a plain list of recent keys keeps, and evicts from a large map faster than a plain Map does.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LruMap } from "./lru-map.ts";

const SIZE = 100_000;
// The holes of a plain Map grow with each eviction until it is rebuilt: fewer evictions would not show them.
const EVICTIONS = 30_000;

/** Processor time of new keys in a full map: unlike the clock, it does not count other processes. */
function measureEvictions(add: (key: number) => void): number {
  for (let key = 0; key < SIZE; key += 1) add(key);
  const before = process.cpuUsage();
  for (let key = SIZE; key < SIZE + EVICTIONS; key += 1) add(key);
  return process.cpuUsage(before).user;
}

/** The obvious way: the first key of a Map is the oldest. */
function addToPlainMap(map: Map<number, number>, key: number): void {
  const [oldest] = map.size >= SIZE ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, key);
}

describe("an LRU map", () => {
  it("keeps the most recently set keys", () => {
    const keys = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 6 }), (sequence, sizeMax) => {
        const map = new LruMap<number, number>(sizeMax);
        let recent: { key: number; value: number }[] = [];
        for (const [value, key] of sequence.entries()) {
          map.set(key, value);
          recent = [...recent.filter((each) => each.key !== key), { key, value }].slice(-sizeMax);
          for (let each = 0; each <= 9; each += 1) {
            expect(map.get(each)).toBe(recent.find((known) => known.key === each)?.value);
          }
        }
      }),
    );
  });

  it("evicts from 100,000 keys several times as fast as a plain Map", () => {
    const lru = new LruMap<number, number>(SIZE);
    const plain = new Map<number, number>();
    const plainTime = measureEvictions((key) => addToPlainMap(plain, key));
    // Measured: ten to thirty times.
    expect(measureEvictions((key) => lru.set(key, key))).toBeLessThan(plainTime / 3);
  });
});
