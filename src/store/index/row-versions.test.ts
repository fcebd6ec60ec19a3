// Rows of a batch: loaded once and only if needed, changed in order, and turned into versions.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addAmounts, type EventOrigin, insert, update, upsert } from "../../schema/change.ts";
import { address, uint63, uint256, unboundedText } from "../../schema/column.ts";
import { requireRow } from "../../schema/domain.ts";
import { defineRollup, defineTable, formatKey, type Row, type Table } from "../../schema/table.ts";
import { type RowLoader, RowVersions } from "./row-versions.ts";

const things = defineTable("things", { id: uint256, name: unboundedText }, { key: ["id"] });
const counts = defineRollup("counts", { who: address, times: uint63 }, { key: ["who"] });

const origin = (block: number, log_index = 0): EventOrigin => ({
  block_number: BigInt(block),
  tx_hash: `0x${block}`,
  log_index,
});
const thing = (id: bigint, name: string, block: number): Row => ({ id, name, ...origin(block) });

/** A loader over given rows that records its calls. */
function createLoader(stored: readonly { table: { readonly name: string }; row: Row }[]) {
  const calls: { table: string; keys: string[] }[] = [];
  const load: RowLoader = async (target: Table, keys) => {
    calls.push({ table: target.name, keys: keys.map((key) => key.keyText) });
    const rows = stored
      .filter((each) => each.table.name === target.name)
      .map(({ row }) => [formatKey(target.key, row), row] as const);
    return new Map(rows.filter(([key]) => keys.some((each) => each.keyText === key)));
  };
  return { calls, load };
}

describe("loading", () => {
  it("runs one query per table for any number of rows", async () => {
    const { calls, load } = createLoader([{ table: things, row: thing(1n, "one", 1) }]);
    const rows = new RowVersions(load);
    await rows.load([
      requireRow(things, { id: 1n }),
      requireRow(things, { id: 2n }),
      requireRow(things, { id: 1n }),
      requireRow(counts, { who: "0xa" }),
    ]);
    await rows.load([requireRow(things, { id: 1n })]);
    await rows.finish();
    expect(calls).toEqual([
      { table: "things", keys: ["1", "2"] },
      { table: "counts", keys: ["0xa"] },
    ]);
  });

  it("loads nothing for new and replaced rows", async () => {
    const { calls, load } = createLoader([]);
    const rows = new RowVersions(load);
    rows.change(insert(things, { id: 1n, name: "new" }), origin(1));
    rows.change(upsert(things, { id: 2n, name: "whatever was there" }), origin(1));
    rows.change(update(things, { id: 1n }, { name: "renamed" }), origin(1));
    await rows.finish();
    expect(calls).toEqual([]);
  });

  it("loads at the end what updates and counters need", async () => {
    const stored = [
      { table: things, row: thing(1n, "old", 1) },
      { table: counts, row: { who: "0xa", times: 4n } },
    ];
    const { calls, load } = createLoader(stored);
    const rows = new RowVersions(load);
    rows.change(update(things, { id: 1n }, { name: "new" }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 1n }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 2n }), origin(6));
    rows.change(addAmounts(counts, { who: "0xb" }, { times: 1n }), origin(6));
    expect(calls).toEqual([]);
    const versions = await rows.finish();
    expect(calls).toEqual([
      { table: "things", keys: ["1"] },
      { table: "counts", keys: ["0xa", "0xb"] },
    ]);
    expect(
      versions.map(({ table: { name }, endedVersions, newVersions }) => ({
        name,
        endedVersions,
        newVersions,
      })),
    ).toEqual([
      {
        name: "things",
        endedVersions: [{ keyText: "1", key: { id: 1n }, at: 5 }],
        newVersions: [{ row: thing(1n, "new", 1), from: 5, to: null }],
      },
      {
        name: "counts",
        endedVersions: [{ keyText: "0xa", key: { who: "0xa" }, at: 5 }],
        newVersions: [
          { row: { who: "0xa", times: 5n }, from: 5, to: 6 },
          { row: { who: "0xa", times: 7n }, from: 6, to: null },
          { row: { who: "0xb", times: 1n }, from: 6, to: null },
        ],
      },
    ]);
  });
});

describe("additions in final blocks", () => {
  const amounts = fc.record({
    who: fc.constantFrom("0xa", "0xb", "0xc"),
    times: fc.bigInt({ min: -2n, max: 2n }),
    blocks: fc.nat({ max: 2 }),
  });

  it("sums additions in final blocks to the rows that all versions would leave", async () => {
    const stored = [{ table: counts, row: { who: "0xa", times: 4n } }];
    const run = fc.asyncProperty(fc.array(amounts), async (additions) => {
      const batches = [true, false].map((final) => new RowVersions(createLoader(stored).load, { final }));
      const lasts: unknown[] = [];
      for (const rows of batches) {
        let block = 1;
        for (const { who, times, blocks } of additions) {
          block += blocks;
          rows.change(addAmounts(counts, { who }, { times }), origin(block));
        }
        const [versions] = await rows.finish();
        const ended = versions?.endedVersions.map(({ keyText }) => keyText) ?? [];
        lasts.push({ ended, last: versions?.newVersions.filter(({ to }) => to === null) ?? [] });
        for (const { row } of versions?.newVersions.filter(({ to }) => to === null) ?? [])
          expect(rows.latest(counts, String(row.who))).toEqual(row);
      }
      expect(lasts[0]).toEqual(lasts[1]);
    });
    await fc.assert(run);
  });

  it("sums additions in final blocks into one version, except in tables with full history", async () => {
    const kept = defineRollup("kept", { who: address, times: uint63 }, { key: ["who"], history: "full" });
    const rows = new RowVersions(createLoader([]).load, { final: true });
    for (const block of [1, 2, 3])
      for (const table of [counts, kept])
        rows.change(addAmounts(table, { who: "0xa" }, { times: 1n }), origin(block));
    expect(() => rows.find(counts, "0xa")).toThrow("without declaring it");
    const versions = await rows.finish();
    expect(versions.map(({ newVersions }) => newVersions.map(({ from }) => from))).toEqual([[3], [1, 2, 3]]);
  });

  it("adds at once to a row that the fold has loaded", async () => {
    const rows = new RowVersions(createLoader([]).load, { final: true });
    await rows.load([requireRow(counts, { who: "0xa" })]);
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 2n }), origin(1));
    expect(rows.find(counts, "0xa")).toEqual({ who: "0xa", times: 2n });
  });
});

describe("finding", () => {
  it("finds a row with all changes so far", async () => {
    const rows = new RowVersions(createLoader([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n }), requireRow(things, { id: 2n })]);
    const find = (id: string) => rows.find(things, id);
    expect([find("1"), find("2")]).toEqual([thing(1n, "old", 1), null]);
    rows.change(update(things, { id: 1n }, { name: "new" }), origin(5));
    rows.change(insert(things, { id: 2n, name: "two" }), origin(5));
    expect([find("1"), find("2")]).toEqual([thing(1n, "new", 1), thing(2n, "two", 5)]);
  });

  it("rejects a row that was not declared as needed", () => {
    const rows = new RowVersions(createLoader([]).load);
    expect(() => rows.find(things, "1")).toThrow("things 1 without declaring it as needed");
  });
});

describe("versions", () => {
  it("creates at most one version per block, with its last change", async () => {
    const rows = new RowVersions(createLoader([]).load);
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

  it("ends the version before a replacement, even if it may not exist", async () => {
    const rows = new RowVersions(createLoader([]).load);
    rows.change(upsert(things, { id: 1n, name: "a" }), origin(4));
    rows.change(upsert(things, { id: 1n, name: "b" }), origin(5));
    const [versions] = await rows.finish();
    expect(versions?.endedVersions.map(({ keyText: key, at }) => [key, at])).toEqual([["1", 4]]);
  });

  it("creates no version for counters that do not change", async () => {
    const rows = new RowVersions(createLoader([{ table: counts, row: { who: "0xa", times: 4n } }]).load);
    rows.change(addAmounts(counts, { who: "0xa" }, { times: 0n }), origin(5));
    rows.change(addAmounts(counts, { who: "0xa" }, {}), origin(6));
    expect(await rows.finish()).toEqual([]);
  });

  it("creates no version for rows that were only read", async () => {
    const rows = new RowVersions(createLoader([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n })]);
    expect(await rows.finish()).toEqual([]);
  });
});

describe("a change that contradicts the rows", () => {
  it("rejects an update of a missing row", async () => {
    const rows = new RowVersions(createLoader([]).load);
    rows.change(update(things, { id: 7n }, { name: "x" }), origin(1));
    await expect(rows.finish()).rejects.toThrow("things 7 cannot be updated, because it does not exist");
  });

  it("rejects a contradictory change at once if the row was read", async () => {
    const rows = new RowVersions(createLoader([{ table: things, row: thing(1n, "old", 1) }]).load);
    await rows.load([requireRow(things, { id: 1n }), requireRow(things, { id: 2n })]);
    expect(() => rows.change(insert(things, { id: 1n, name: "x" }), origin(2))).toThrow("already exists");
    expect(() => rows.change(update(things, { id: 2n }, { name: "x" }), origin(2))).toThrow("does not exist");
  });

  it("rejects an insert of an existing row", () => {
    const rows = new RowVersions(createLoader([]).load);
    rows.change(insert(things, { id: 1n, name: "x" }), origin(1));
    expect(() => rows.change(insert(things, { id: 1n, name: "y" }), origin(2))).toThrow("already exists");
  });
});

it("leaves the same rows whether the fold loads a row before the batch or in the middle of it", async () => {
  const stored = [{ table: counts, row: { who: "0xa", times: 4n } }];
  const step = fc.record({
    who: fc.constantFrom("0xa", "0xb"),
    times: fc.bigInt({ min: -2n, max: 2n }),
    loads: fc.boolean(),
  });
  const run = fc.asyncProperty(fc.array(step), fc.boolean(), async (steps, final) => {
    const lasts: unknown[] = [];
    for (const early of [true, false]) {
      const rows = new RowVersions(createLoader(stored).load, { final });
      const needs = ["0xa", "0xb"].map((who) => requireRow(counts, { who }));
      if (early) await rows.load(needs);
      for (const [block, { who, times, loads }] of steps.entries()) {
        rows.change(addAmounts(counts, { who }, { times }), origin(block));
        if (!loads) continue;
        await rows.load([requireRow(counts, { who })]);
        const added = steps.slice(0, block + 1).filter((each) => each.who === who);
        const sum = added.reduce((total, each) => total + each.times, who === "0xa" ? 4n : 0n);
        expect(rows.find(counts, who)).toEqual({ who, times: sum });
      }
      const [versions] = await rows.finish();
      const last = versions?.newVersions.filter(({ to }) => to === null).map(({ row }) => row) ?? [];
      lasts.push(new Map(last.map((row) => [row.who, row])));
    }
    expect(lasts[1]).toEqual(lasts[0]);
  });
  await fc.assert(run);
});
