// Lists whose items depend on a condition, lists by a key, and long lists in a sentence.
import { describe, expect, it } from "vitest";
import { groupBy, keepPresent, nameFirst } from "./lists.ts";

describe("keepPresent", () => {
  it("keeps zero and empty text, and leaves out what is false, null or undefined", () => {
    expect(keepPresent<unknown>(0, "", false, null, undefined, "a")).toEqual([0, "", "a"]);
  });
});

describe("groupBy", () => {
  it("keeps the order of the items and of the first item of each key", () => {
    expect([...groupBy([3, 1, 5, 2], (number) => number % 2)]).toEqual([
      [1, [3, 1, 5]],
      [0, [2]],
    ]);
  });
});

describe("nameFirst", () => {
  it("counts what it does not name", () => {
    expect(nameFirst(["a", "b"], 2)).toBe("a, b");
    expect(nameFirst(["a", "b", "c"], 1)).toBe("a and 2 more");
  });
});
