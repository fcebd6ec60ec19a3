// The search for the oldest state: the right block if probes suffice, never a block without state, bounded always.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findOldestState } from "./past-state.ts";

async function search(oldest: number, range: { readonly dropped: number; readonly head: number }) {
  let probes = 0;
  const hasState = async (block: number) => {
    probes += 1;
    if (block <= range.dropped || block > range.head) throw new Error(`block ${block} is known already`);
    return block >= oldest;
  };
  return { ...(await findOldestState(hasState, range)), probes };
}

describe("findOldestState", () => {
  it("names a block with state, next to none without it, in at most 12 probes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 400_000_000 }),
        fc.integer({ min: 1, max: 400_000_000 }),
        fc.integer({ min: 1, max: 400_000_000 }),
        async (dropped, length, offset) => {
          const head = dropped + length;
          const first = dropped + 1 + (offset % length);
          const found = await search(first, { dropped, head });
          expect(found.probes).toBeLessThanOrEqual(12);
          expect(found.dropped).toBeLessThan(first);
          expect(found.oldest).not.toBeNull();
          expect(found.oldest).toBeGreaterThanOrEqual(first);
          expect(found.oldest).toBeLessThanOrEqual(head);
          // Within a third of how far back the state goes, or exact.
          const depth = head - first;
          expect((found.oldest ?? 0) - first).toBeLessThanOrEqual(Math.max(3, depth / 3));
        },
      ),
    );
  });

  it("finds null when the newest block has no state, after two probes", async () => {
    const found = await search(1_001, { dropped: 10, head: 1_000 });
    expect(found).toEqual({ oldest: null, dropped: 1_000, probes: 2 });
  });
});
