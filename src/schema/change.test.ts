// Each kind of change: what it makes of the prior row, and which prior rows it rejects.
import { describe, expect, it } from "vitest";
import { addAmounts, type EventOrigin, insert, update, upsert } from "./change.ts";
import { address, orNull, uint63, uint256, unboundedText } from "./column.ts";
import { defineRollup, defineTable } from "./table.ts";

const things = defineTable(
  "things",
  { id: uint256, owner: address, note: orNull(unboundedText) },
  { key: ["id"] },
);
const counts = defineRollup(
  "counts",
  { who: address, day: uint63, times: uint63, sum: uint256 },
  { key: ["who", "day"] },
);

const origin: EventOrigin = { block_number: 9n, tx_hash: "0xe1", log_index: 4 };
const later: EventOrigin = { block_number: 10n, tx_hash: "0xe2", log_index: 0 };
const row = { id: 1n, owner: "0xa", note: null };
const stored = { ...row, ...origin };

describe("insert", () => {
  it("creates a row with its origin", () => {
    const change = insert(things, row);
    expect(change).toMatchObject({ keyText: "1", priorRow: "absent" });
    expect(change.apply(null, origin)).toEqual(stored);
  });

  it("rejects a row that exists", () => {
    expect(() => insert(things, row).apply(stored, later)).toThrow("things 1 already exists");
  });
});

describe("upsert", () => {
  it("replaces the row, whatever was there", () => {
    const change = upsert(things, { ...row, note: "new" });
    expect(change.priorRow).toBe("ignored");
    const replaced = { ...row, note: "new", ...later };
    expect(change.apply(null, later)).toEqual(replaced);
    expect(change.apply(stored, later)).toEqual(replaced);
  });
});

describe("update", () => {
  it("changes some columns and keeps the others, including the origin", () => {
    const change = update(things, { id: 1n }, { note: "new" });
    expect(change.priorRow).toBe("needed");
    expect(change.apply(stored, later)).toEqual({ ...stored, note: "new" });
    expect(stored.note).toBeNull();
  });

  it("rejects a row that does not exist", () => {
    expect(() => update(things, { id: 1n }, { note: "x" }).apply(null, later)).toThrow(
      "things 1 cannot be updated, because it does not exist",
    );
  });
});

describe("addAmounts", () => {
  const key = { who: "0xa", day: 3n };

  it("starts at zero", () => {
    expect(addAmounts(counts, key, { times: 1n }).apply(null, origin)).toEqual({
      ...key,
      times: 1n,
      sum: 0n,
    });
    expect(addAmounts(counts, key, {}).apply(null, origin)).toEqual({ ...key, times: 0n, sum: 0n });
  });

  it("adds and subtracts", () => {
    const before = { ...key, times: 5n, sum: 2n ** 256n };
    expect(addAmounts(counts, key, { times: -2n, sum: 1n }).apply(before, origin)).toEqual({
      ...key,
      times: 3n,
      sum: 2n ** 256n + 1n,
    });
    expect(before.times).toBe(5n);
  });

  it("returns the same row when there is nothing to add, so that no version is written", () => {
    const before = { ...key, times: 5n, sum: 7n };
    expect(addAmounts(counts, key, { times: 0n, sum: 0n }).apply(before, origin)).toBe(before);
    expect(addAmounts(counts, key, {}).apply(before, origin)).toBe(before);
  });

  it("identifies its row by all key columns", () => {
    expect(addAmounts(counts, key, {}).keyText).toBe("0xa|3");
  });
});
