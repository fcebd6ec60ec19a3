// The rows that a chain of batches remembers: always the newest known, and never more than two generations.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uint63 } from "../../schema/column.ts";
import { defineRollup, type Row, type Table } from "../../schema/table.ts";
import { RowCache } from "./row-cache.ts";

const tables: readonly Table[] = ["one", "other"].map((name) =>
  defineRollup(name, { id: uint63, count: uint63 }, { key: ["id"] }),
);
const [one, other] = tables as [Table, Table];

const batchOf = (rows: readonly (readonly [Table, string, Row | null])[]) => ({
  forEachLatest(
    asked: ReadonlySet<Table>,
    visit: (table: Table, keyText: string, row: Row | null) => void,
  ): void {
    for (const [table, keyText, row] of rows) if (asked.has(table)) visit(table, keyText, row);
  },
});

describe("a cache of rows", () => {
  it("never returns a row that a later batch has changed, and remembers the last ones", () => {
    const touched = fc.record({ table: fc.nat(1), key: fc.nat(9), isRead: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(fc.array(touched, { maxLength: 6 })),
        fc.integer({ min: 1, max: 8 }),
        (batches, max) => {
          const cache = new RowCache(max);
          for (const table of tables) cache.latest(table, "none");
          const truth = new Map<string, Row | null>();
          for (const [at, batch] of batches.entries()) {
            const changed: [Table, string, Row | null][] = [];
            for (const { table: index, key, isRead } of batch) {
              const table = tables[index] as Table;
              const found = cache.latest(table, String(key));
              if (found !== undefined) expect(found).toBe(truth.get(`${index} ${key}`));
              if (!isRead) changed.push([table, String(key), at % 3 === 0 ? null : { id: key, count: at }]);
            }
            cache.remember(batchOf(changed));
            for (const [table, key, row] of changed) truth.set(`${tables.indexOf(table)} ${key}`, row);
            const last = changed.at(-1);
            if (last) expect(cache.latest(last[0], last[1])).toBe(last[2]);
          }
        },
      ),
    );
  });

  it("forgets the rows that no batch has used for longest", () => {
    const cache = new RowCache(2);
    cache.latest(one, "none");
    for (let key = 1; key <= 6; key += 1) {
      cache.remember(batchOf([[one, String(key), { id: key }]]));
      // Used again by every batch.
      expect(cache.latest(one, "1")).toEqual({ id: 1 });
    }
    const known = [2, 3, 4, 5, 6].filter((key) => cache.latest(one, String(key)) !== undefined);
    expect(known.length).toBeLessThanOrEqual(3);
    expect(known).toContain(6);
  });

  it("remembers nothing of a table that no batch has asked for", () => {
    const cache = new RowCache();
    cache.latest(one, "1");
    const rows = batchOf([
      [one, "1", { id: 1 }],
      [other, "1", { id: 1 }],
    ]);
    cache.remember(rows);
    expect(cache.latest(one, "1")).toEqual({ id: 1 });
    expect(cache.latest(other, "1")).toBeUndefined();
  });
});
