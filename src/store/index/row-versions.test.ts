// Rows of a batch: loaded once and only where needed, changed in order, and turned into versions.
import { describe, expect, it } from "vitest";
import { addAmounts, type EventOrigin, insert, update, upsert } from "../../schema/change.ts";
import { address, uint63, uint256, unboundedText } from "../../schema/column.ts";
import { requireRow } from "../../schema/domain.ts";
import { defineRollup, defineTable, formatKey, type Row, type Table } from "../../schema/table.ts";
import { createRowVersions, type RowLoader } from "./row-versions.ts";

const things = defineTable("things", { id: uint256, name: unboundedText }, { key: ["id"] });
const counts = defineRollup("counts", { who: address, times: uint63 }, { key: ["who"] });

const origin = (block: number, log_index = 0): EventOrigin => ({
  block_number: BigInt(block),
  tx_hash: `0x${block}`,
  log_index,
});
const thing = (id: bigint, name: string, block: number): Row => ({ id, name, ...origin(block) });

/** A loader over given rows that remembers what it was asked for. */
function loaderOf(stored: readonly { table: { readonly name: string }; row: Row }[]) {
  const asked: { table: string; keys: string[] }[] = [];
  const load: RowLoader = async (target: Table, keys) => {
    asked.push({ table: target.name, keys: keys.map((key) => key.keyText) });
    const rows = stored
      .filter((each) => each.table.name === target.name)
      .map(({ row }) => [formatKey(target.key, row), row] as const);
    return new Map(rows.filter(([key]) => keys.some((each) => each.keyText === key)));
  };
  return { asked, load };
}

describe("loading", () => {
  it("asks once per table, however many rows are needed and however often", async () => {
    const { asked, load } = loaderOf([{ table: things, row: thing(1n, "one", 1) }]);
    const rows = createRowVersions(load);
    await rows.load([
      requireRow(things, { id: 1n }),
      requireRow(things, { id: 2n }),
      requireRow(things, { id: 1n }),
      requireRow(counts, { who: "0xa" }),
    ]);
    await rows.load([requireRow(things, { id: 1n })]);
    await rows.finish();
    expect(asked).toEqual([
      { table: "things", keys: ["1", "2"] },
      { table: "counts", keys: ["0xa"] },
    ]);
  });

  it("asks for nothing where rows are new or replaced", async () => {
    const { asked, load } = loaderOf([]);
    const rows = createRowVersions(load);
    rows.change(insert(things, { id: 1n, name: "new" }), origin(1));
    rows.change(upsert(things, { id: 2n, name: "whatever was there" }), origin(1));
    rows.change(update(things, { id: 1n }, { name: "renamed" }), origin(1));
    await rows.finish();
    expect(asked).toEqual([]);
  });

  it("asks at the end for what updates and counters turned out to need", async () => {
    const stored = [
      { table: things, row: thing(1n, "old", 1) },
      { table: counts, row: { who: "0xa", times: 4n } },
    ];
    const { asked, load } = loaderOf(stored);
    const rows = createRowVersions(load);
    rows.change(update(things, { id: 1n }, { name: "new" }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 1n }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 2n }), origin(6));
    rows.change(addAmounts(counts, { who: "0xb" }, { times: 1n }), origin(6));
    expect(asked).toEqual([]);
    const versions = await rows.finish();
    expect(asked).toEqual([
      { table: "things", keys: ["1"] },
      { table: "counts", keys: ["0xa", "0xb"] },
    ]);
    expect(
      versions.map(({ table: { name }, endedVersions: ended, newVersions: begun }) => ({
        name,
        ended,
        begun,
      })),
    ).toEqual([
      {
        name: "things",
        ended: [{ keyText: "1", key: { id: 1n }, at: 5 }],
        begun: [{ row: thing(1n, "new", 1), from: 5, to: null }],
      },
      {
        name: "counts",
        ended: [{ keyText: "0xa", key: { who: "0xa" }, at: 5 }],
        begun: [
          { row: { who: "0xa", times: 5n }, from: 5, to: 6 },
          { row: { who: "0xa", times: 7n }, from: 6, to: null },
          { row: { who: "0xb", times: 1n }, from: 6, to: null },
        ],
      },
    ]);
  });
});

describe("finding", () => {
  it("sees the row as the changes before it left it", async () => {
    const rows = createRowVersions(loaderOf([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n }), requireRow(things, { id: 2n })]);
    const find = (id: string) => rows.find(things as unknown as Table, id);
    expect([find("1"), find("2")]).toEqual([thing(1n, "old", 1), null]);
    rows.change(update(things, { id: 1n }, { name: "new" }), origin(5));
    rows.change(insert(things, { id: 2n, name: "two" }), origin(5));
    expect([find("1"), find("2")]).toEqual([thing(1n, "new", 1), thing(2n, "two", 5)]);
  });

  it("refuses what was not declared to be needed, because it was not loaded", () => {
    const rows = createRowVersions(loaderOf([]).load);
    expect(() => rows.find(things as unknown as Table, "1")).toThrow("things 1 without needing it");
  });
});

describe("versions", () => {
  it("are at most one a block, and the last change of the block wins", async () => {
    const rows = createRowVersions(loaderOf([]).load);
    rows.change(insert(things, { id: 1n, name: "a" }), origin(1));
    rows.change(update(things, { id: 1n }, { name: "b" }), origin(1, 1));
    rows.change(upsert(things, { id: 1n, name: "c" }), origin(1, 2));
    rows.change(update(things, { id: 1n }, { name: "d" }), origin(3));
    const [versions] = await rows.finish();
    expect(versions?.endedVersions).toEqual([]);
    expect(versions?.newVersions).toEqual([
      { row: { id: 1n, name: "c", ...origin(1, 2) }, from: 1, to: 3 },
      { row: { id: 1n, name: "d", ...origin(1, 2) }, from: 3, to: null },
    ]);
  });

  it("end the version before a replacement, whether there was one or not", async () => {
    const rows = createRowVersions(loaderOf([]).load);
    rows.change(upsert(things, { id: 1n, name: "a" }), origin(4));
    rows.change(upsert(things, { id: 1n, name: "b" }), origin(5));
    const [versions] = await rows.finish();
    expect(versions?.endedVersions.map(({ keyText: key, at }) => [key, at])).toEqual([["1", 4]]);
  });

  it("are not made by counters that do not move", async () => {
    const rows = createRowVersions(loaderOf([{ table: counts, row: { who: "0xa", times: 4n } }]).load);
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 0n }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, {}), origin(6));
    expect(await rows.finish()).toEqual([]);
  });

  it("are not made for rows that were only looked at", async () => {
    const rows = createRowVersions(loaderOf([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n })]);
    expect(await rows.finish()).toEqual([]);
  });
});

describe("a change that contradicts the rows", () => {
  it("is refused: an update of a row that is not there", async () => {
    const rows = createRowVersions(loaderOf([]).load);
    rows.change(update(things, { id: 7n }, { name: "x" }), origin(1));
    await expect(rows.finish()).rejects.toThrow("things 7 cannot be updated, because it does not exist");
  });

  it("is refused at once where the row was looked at", async () => {
    const rows = createRowVersions(loaderOf([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n }), requireRow(things, { id: 2n })]);
    expect(() => rows.change(insert(things, { id: 1n, name: "x" }), origin(2))).toThrow("already exists");
    expect(() => rows.change(update(things, { id: 2n }, { name: "x" }), origin(2))).toThrow("does not exist");
  });

  it("is refused: a row that is made twice", () => {
    const rows = createRowVersions(loaderOf([]).load);
    rows.change(insert(things, { id: 1n, name: "x" }), origin(1));
    expect(() => rows.change(insert(things, { id: 1n, name: "y" }), origin(2))).toThrow("already exists");
  });
});
