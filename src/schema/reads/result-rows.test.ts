// Rows become records: hidden columns stay hidden, in the order of the columns.
import { describe, expect, it } from "vitest";
import { readHiddenColumn, toFirstRecord, toRecords } from "./read.ts";

const result = {
  columns: ["_head", "b", "a", "_0"],
  rows: [
    ["7", null, "one", "1"],
    ["7", { k: 1 }, "two", "2"],
  ],
};

describe("result rows", () => {
  it("turns rows into records of the visible columns, in order", () => {
    expect(JSON.stringify(toRecords(result))).toBe('[{"b":null,"a":"one"},{"b":{"k":1},"a":"two"}]');
    expect(toRecords(result, 1)).toEqual([{ b: null, a: "one" }]);
    expect(toRecords(result, 9)).toHaveLength(2);
  });

  it("returns the first record, or null if there is none", () => {
    expect(toFirstRecord(result)).toEqual({ b: null, a: "one" });
    expect(toFirstRecord({ columns: result.columns, rows: [] })).toBeNull();
  });

  it("gives access to hidden columns", () => {
    expect(readHiddenColumn(result, 1, "_0")).toBe("2");
    expect(readHiddenColumn(result, 2, "_0")).toBeUndefined();
  });
});
