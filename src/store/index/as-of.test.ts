// Rows as of a block, compared with a plain model: all of them, in pages, and as an even sample.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { uint63, uint256, unboundedText } from "../../schema/column.ts";
import { defineRollup, type Row } from "../../schema/table.ts";
import type { Database } from "../postgres/database.ts";
import { countRowsAsOf, readRowsAsOf } from "./as-of.ts";
import { createTableSql, readIndexes, writeIndexes } from "./versioned-rows.ts";

const sample = defineRollup(
  "sample_rows",
  { id: uint256, name: unboundedText, value: uint63 },
  { key: ["id", "name"] },
);
const table = sample as unknown as Parameters<typeof readRowsAsOf>[1];

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ database, drop } = await openTestDatabase());
  const indexes = [...writeIndexes(table), ...readIndexes(table)];
  for (const sql of [createTableSql(table), ...indexes.map(({ name, create }) => create(name))])
    await database.query(sql);
});

afterAll(() => drop());

async function fill(versions: readonly (readonly [number, number, number | null])[]): Promise<void> {
  await database.query("truncate sample_rows");
  await database.query({
    text: `insert into sample_rows select id, 'row ' || id, from_block, from_block, to_block
      from unnest($1::numeric[], $2::bigint[], $3::bigint[]) as v(id, from_block, to_block)`,
    values: [0, 1, 2].map((column) => versions.map((version) => version[column] ?? null)),
  });
}

async function read(block: number, size: number | null): Promise<{ pages: number[]; rows: Row[] }> {
  return database.transaction(
    async (session) => {
      const count = await countRowsAsOf(session, table, block);
      const pages: number[] = [];
      const rows: Row[] = [];
      for await (const page of readRowsAsOf(session, table, { block, count, sample: size })) {
        pages.push(page.length);
        rows.push(...page);
      }
      return { pages, rows };
    },
    { isolation: "repeatable read", access: "read only" },
  );
}

describe("readRowsAsOf", () => {
  it("returns the valid versions in the order of their keys", async () => {
    // For each id the blocks at which a version begins; the last one stays current.
    const histories = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 40 }),
        begins: fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 0, max: 22 }), async (all, block) => {
        const sorted = all.map(({ id, begins }) => ({ id, begins: [...begins].sort((a, b) => a - b) }));
        await fill(
          sorted.flatMap(({ id, begins }) =>
            begins.map((from, at) => [id, from, begins[at + 1] ?? null] as const),
          ),
        );
        const expected = sorted
          .flatMap(({ id, begins }) => {
            const value = begins.filter((from) => from <= block).at(-1);
            return value === undefined ? [] : [{ id: BigInt(id), name: `row ${id}`, value: BigInt(value) }];
          })
          .sort((a, b) => Number(a.id - b.id));
        expect((await read(block, null)).rows).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("returns pages", async () => {
    await fill(Array.from({ length: 1_203 }, (_, index) => [index + 1, 1, null] as const));
    const { pages, rows } = await read(1, null);
    expect(pages).toEqual([500, 500, 203]);
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 1_203 }, (_, index) => BigInt(index + 1)));
  });

  it.each([1, 2, 7, 499, 500, 501, 999, 1_000, 5_000])("spreads a sample of %i evenly", async (size) => {
    await fill(Array.from({ length: 1_000 }, (_, index) => [index + 1, 1, null] as const));
    const { rows } = await read(1, size);
    expect(rows).toHaveLength(Math.min(size, 1_000));
    const ids = [0, ...rows.map(({ id }) => Number(id))];
    const steps = ids.slice(1).map((id, index) => id - (ids[index] ?? 0));
    expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(1);
  });

  it("closes its cursor when a reader stops early", async () => {
    await fill(Array.from({ length: 1_000 }, (_, index) => [index + 1, 1, null] as const));
    await database.transaction(async (session) => {
      for (let again = 0; again < 2; again += 1) {
        for await (const page of readRowsAsOf(session, table, { block: 1, count: 1_000, sample: null })) {
          expect(page).toHaveLength(500);
          break;
        }
      }
    });
  });
});
