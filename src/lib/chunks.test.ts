// Pieces of a list hold every item once, in order, and none is too long.
import fc from "fast-check";
import { expect, it } from "vitest";
import { splitIntoChunks } from "./chunks.ts";

it("chunks put together again are the list, all but the last of full size", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 50 }), fc.integer({ min: 1, max: 20 }), (items, size) => {
      const pieces = splitIntoChunks(items, size);
      expect(pieces.flat()).toEqual(items);
      expect(pieces.every(({ length }) => length > 0 && length <= size)).toBe(true);
      expect(pieces.slice(0, -1).every(({ length }) => length === size)).toBe(true);
    }),
  );
});
