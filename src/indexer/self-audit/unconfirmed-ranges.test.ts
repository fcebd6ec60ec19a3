// The blocks that still need confirmation by a second node.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../tests/support/seeded-random.ts";
import { type BlockSpan, countBlocks, createUnconfirmedRanges } from "./unconfirmed-ranges.ts";

describe("unconfirmed ranges", () => {
  it("covers exactly the blocks that were added and not confirmed", () => {
    const random = seededRandom(3);
    const draw = (): BlockSpan => {
      const from = Math.floor(random() * 100);
      return { from, to: from + Math.floor(random() * 8) };
    };
    const reported: (readonly BlockSpan[])[] = [];
    const ranges = createUnconfirmedRanges((spans) => reported.push(spans));
    const blocks = new Set<number>();
    for (let step = 0; step < 300; step += 1) {
      const span = draw();
      const isAdded = random() < 0.6;
      if (isAdded) ranges.add(span);
      else ranges.confirm(span);
      for (let block = span.from; block <= span.to; block += 1) {
        if (isAdded) blocks.add(block);
        else blocks.delete(block);
      }
      const listed = ranges
        .list()
        .flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
      expect(listed).toEqual([...blocks].sort((a, b) => a - b));
      expect(countBlocks(ranges.list())).toBe(blocks.size);
    }
    expect(reported).toHaveLength(300);
    expect(reported.at(-1)).toEqual(ranges.list());
  });

  it("stays within the limit and never loses a block", () => {
    const ranges = createUnconfirmedRanges(() => undefined, 2);
    for (const from of [10, 40, 20]) ranges.add({ from, to: from + 1 });
    expect(ranges.list()).toEqual([
      { from: 10, to: 21 },
      { from: 40, to: 41 },
    ]);
  });
});
