// Rows as records: what is hidden stays hidden, in the order of the columns.
import { describe, expect, it } from "vitest";
import { readHiddenColumn, toFirstRecord, toRecords } from "./result-rows.ts";

const answered = {
  columns: ["_head", "b", "a", "_0"],
  rows: [
    ["7", null, "one", "1"],
    ["7", { k: 1 }, "two", "2"],
  ],
};

describe("rows of an answer", () => {
  it("become records of what is shown, in order", () => {
    expect(JSON.stringify(toRecords(answered))).toBe('[{"b":null,"a":"one"},{"b":{"k":1},"a":"two"}]');
    expect(toRecords(answered, 1)).toEqual([{ b: null, a: "one" }]);
    expect(toRecords(answered, 9)).toHaveLength(2);
  });

  it("have a first one, or none", () => {
    expect(toFirstRecord(answered)).toEqual({ b: null, a: "one" });
    expect(toFirstRecord({ columns: answered.columns, rows: [] })).toBeNull();
  });

  it("still tell what they hide", () => {
    expect(readHiddenColumn(answered, 1, "_0")).toBe("2");
    expect(readHiddenColumn(answered, 2, "_0")).toBeUndefined();
  });
});
