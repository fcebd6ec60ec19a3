// Values of every type survive the way into a file, and DuckDB finds each by an equality, whatever the bytes.
import { join } from "node:path";
import { DuckDBConnection } from "@duckdb/node-api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../tests/support/any-character.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import type { ExportColumn } from "./export-table.ts";
import { ParquetFile } from "./parquet-file.ts";

const COLUMNS: readonly ExportColumn[] = [
  { name: "id", type: "int64", nullable: false },
  { name: "small", type: "int32", nullable: true },
  { name: "flag", type: "boolean", nullable: true },
  { name: "amount", type: "decimal", nullable: true },
  { name: "words", type: "text", nullable: true },
  { name: "block_time", type: "timestamp", nullable: false },
];

const UINT256_MAX = 2n ** 256n - 1n;

// U+FFFD comes after U+1F600 in UTF-16, and before it in UTF-8. PostgreSQL stores neither NUL nor half a surrogate.
const words = fc.oneof(
  fc.constantFrom("", "\u{1f600}", "\ufffd", "a".repeat(40), "\u{10ffff}".repeat(9), "'; drop table", "é"),
  fc.string({ unit: anyCharacter, maxLength: 30 }).map((text) => text.replaceAll("\0", "")),
);

const row = fc.tuple(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.option(fc.integer()),
  fc.option(fc.boolean()),
  fc.option(fc.bigInt({ min: -UINT256_MAX, max: UINT256_MAX }).map(String)),
  fc.option(words),
  fc.bigInt({ min: 0n, max: 4_102_444_800_000n }),
);

describe("a Parquet file", () => {
  it("gives DuckDB the values that were written", async () => {
    const connection = await DuckDBConnection.create();
    const folder = await createTestFolder();
    const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        // DuckDB keeps parts of a file, also when another of the same length and second has replaced it.
        files += 1;
        const path = join(folder, `rows-${files}.parquet`);
        const file = await ParquetFile.create(path, COLUMNS);
        await file.append(rows);
        expect(await file.finish()).toMatchObject({ rows: rows.length });
        const shown = "id::varchar, small, flag, amount, words, epoch_ms(block_time)::varchar";
        const expected = rows.map(([id, small, flag, amount, text, at]) => [
          String(id),
          small,
          flag,
          amount,
          text,
          String(at),
        ]);
        expect(await read(`select ${shown} from '${path}'`)).toEqual(expected);
        // The smallest and largest value of a row group must not hide a row from a filter.
        for (const text of rows.map((each) => each[4]).filter((each) => each !== null)) {
          const literal = `'${String(text).replaceAll("'", "''")}'`;
          const [[found] = []] = await read(
            `select count(*)::integer from '${path}' where words = ${literal}`,
          );
          expect(found).toBe(rows.filter((each) => each[4] === text).length);
        }
      }),
      { numRuns: 30 },
    );
    connection.closeSync();
  });

  it("a Parquet file has several row groups, each with its own smallest and largest values", async () => {
    const connection = await DuckDBConnection.create();
    const path = join(await createTestFolder(), "rows.parquet");
    const file = await ParquetFile.create(path, [
      { name: "id", type: "int32", nullable: false },
      { name: "words", type: "text", nullable: true },
    ]);
    const total = 60_000;
    const wordsOf = (id: number) => (id % 3 === 0 ? null : `${id}`.padStart(20, "0"));
    await file.append(Array.from({ length: total }, (_, id) => [id, wordsOf(id)]));
    expect((await file.finish()).rows).toBe(total);
    const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
    const groups = await read(
      `select row_group_num_rows::integer, stats_min_value, stats_max_value, stats_null_count::integer
       from parquet_metadata('${path}') where path_in_schema = 'words' order by row_group_id`,
    );
    // Sixteen bytes of each, the largest rounded up.
    const first = (id: number) => `${id}`.padStart(20, "0").slice(0, 16);
    expect(groups.map(([rows, least]) => [rows, least])).toEqual([
      [50_000, first(1)],
      [10_000, first(50_000)],
    ]);
    for (const id of [1, 49_999, 50_000, 59_999])
      expect(await read(`select id from '${path}' where words = '${wordsOf(id)}'`)).toEqual([[id]]);
    expect(await read(`select count(*)::integer from '${path}' where words is null`)).toEqual([[total / 3]]);
    connection.closeSync();
  });

  it("sums 256 bits exactly in DuckDB", async () => {
    const connection = await DuckDBConnection.create();
    const path = join(await createTestFolder(), "rows.parquet");
    const file = await ParquetFile.create(path, [{ name: "amount", type: "decimal", nullable: false }]);
    await file.append([[String(UINT256_MAX)], [String(UINT256_MAX)], ["1"], ["9"], ["10"]]);
    await file.finish();
    const exact = await connection.runAndReadAll(`select sum(amount::bignum)::varchar from '${path}'`);
    expect(exact.getRowsJson()).toEqual([[String(2n * UINT256_MAX + 20n)]]);
    const ordered = await connection.runAndReadAll(`select amount from '${path}' order by amount::bignum`);
    expect(ordered.getRowsJson().flat()).toEqual(["1", "9", "10", String(UINT256_MAX), String(UINT256_MAX)]);
    await expect(connection.runAndReadAll(`select sum(amount::hugeint) from '${path}'`)).rejects.toThrow(
      "Could not convert",
    );
    connection.closeSync();
  });
});
