// Every column type round-trips through a real database, including its extremes.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anyCharacter } from "../../tests/support/any-character.ts";
import { openTestDatabase } from "../../tests/support/index/test-index.ts";
import { createRowTables } from "../store/index/row-tables.ts";
import { buildVersionSteps, createRowLoader } from "../store/index/versioned-rows.ts";
import type { Database } from "../store/postgres/database.ts";
import {
  address,
  bool,
  bytes,
  bytes4,
  bytes32,
  type Column,
  int257,
  orNull,
  uint16,
  uint63,
  uint256,
  unboundedInteger,
  unboundedText,
} from "./column.ts";
import { defineRollup } from "./table.ts";

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ database, drop } = await openTestDatabase());
});
afterAll(() => drop());

const UINT256_MAX = 2n ** 256n - 1n;
const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((value) => `0x${Buffer.from(value).toString("hex")}`);
// Malformed text and NUL never reach a column.
const texts = fc
  .string({ unit: anyCharacter, maxLength: 60 })
  .filter((value) => !value.includes("\0") && Buffer.from(value).toString() === value);

const KINDS: readonly {
  name: string;
  column: Column<unknown>;
  values: fc.Arbitrary<unknown>;
  edges: unknown[];
}[] = [
  {
    name: "uint256",
    column: uint256,
    values: fc.bigInt({ min: 0n, max: UINT256_MAX }),
    edges: [0n, UINT256_MAX],
  },
  {
    name: "int257",
    column: int257,
    values: fc.bigInt({ min: -UINT256_MAX, max: UINT256_MAX }),
    edges: [-UINT256_MAX, UINT256_MAX],
  },
  {
    name: "total",
    column: unboundedInteger,
    values: fc.bigInt({ min: -(10n ** 200n), max: 10n ** 200n }),
    edges: [UINT256_MAX * 10n ** 12n],
  },
  {
    name: "uint63",
    column: uint63,
    values: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    edges: [2n ** 63n - 1n],
  },
  { name: "uint16", column: uint16, values: fc.nat(65_535), edges: [0, 65_535] },
  { name: "address", column: address, values: hex(20), edges: [`0x${"0".repeat(40)}`] },
  { name: "bytes32", column: bytes32, values: hex(32), edges: [`0x${"f".repeat(64)}`] },
  { name: "bytes4", column: bytes4, values: hex(4), edges: ["0x00000000"] },
  { name: "bytes", column: bytes, values: fc.nat(99).chain(hex), edges: ["0x"] },
  { name: "text", column: unboundedText, values: texts, edges: ["", "\\N", "\t\n\r", "NULL", "🧭", "'\"{}"] },
  { name: "bool", column: bool, values: fc.boolean(), edges: [true, false] },
];

/** Copies values into rows, as batches of blocks are, and loads these. */
async function storeAndLoad(column: Column<unknown>, values: readonly unknown[]): Promise<unknown[]> {
  const table = defineRollup("samples", { id: uint256, value: orNull(column) }, { key: ["id"] });
  const rows = values.map((value, id) => ({ id: BigInt(id), value }));
  const keys = rows.map(({ id }) => ({ keyText: String(id), key: { id } }));
  return database.transaction(async (session) => {
    await session.query("drop table if exists samples");
    await createRowTables(session, [table]);
    const newVersions = rows.map((row) => ({ row, from: 1, to: null }));
    await session.sendPipeline(
      buildVersionSteps({ table, endedVersions: [], newVersions }, { final: false }),
    );
    const loaded = await createRowLoader(session)(table, keys);
    return keys.map(({ keyText }) => loaded.get(keyText)?.value);
  });
}

/** Sends values through a parameter, as keys are, and a cast to the column type. */
async function roundTrip(column: Column<unknown>, values: readonly unknown[]): Promise<unknown[]> {
  const written = values.map((value) =>
    value === null ? null : column.toSql(value as NonNullable<unknown>),
  );
  const { rows } = await database.query<{ value: NonNullable<unknown> | null }>({
    text: `select v::${column.sql.replace(' collate "C"', "")} as value from unnest($1::text[]) with ordinality as t(v, n) order by n`,
    values: [written],
  });
  return rows.map(({ value }) => (value === null ? null : column.fromSql(value)));
}

describe("a column", () => {
  it.each(KINDS)("a column of $name round-trips its values", async ({ column, values, edges }) => {
    const samples = [...edges, ...fc.sample(values, 50)];
    expect(await roundTrip(column, samples)).toEqual(samples);
    expect(await storeAndLoad(column, [...samples, null])).toEqual([...samples, null]);
  });

  it.each(KINDS)("a column of $name describes its values in JSON Schema", ({ column, values, edges }) => {
    for (const value of [...edges, ...fc.sample(values, 20)]) {
      const { type, pattern } = column.json;
      const shown = typeof value === "bigint" ? String(value) : value;
      expect(typeof shown).toBe(type === "integer" ? "number" : type);
      if (typeof pattern === "string") expect(shown).toMatch(new RegExp(pattern));
    }
  });

  it.each(KINDS)("a column of $name can be null", async ({ column, edges }) => {
    const nullable = orNull(column);
    expect(column.nullable).toBe(false);
    expect(nullable.nullable).toBe(true);
    expect(nullable.json).toEqual({ anyOf: [column.json, { type: "null" }] });
    expect(await roundTrip(nullable, [null, ...edges])).toEqual([null, ...edges]);
  });

  it("a column of hex has the order of its lower-case text, and finds it in any case", async () => {
    const values = fc.uniqueArray(fc.nat(3).chain(hex), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(values, async (texts) => {
        const { rows } = await database.query<{ value: string; isFound: boolean }>({
          text: `select v as value, v = stored_hex(v, '0x' || upper(substr(hex_text(v), 3))) as "isFound"
            from (select t::${bytes.sql} from unnest($1::text[]) t) as listed(v) order by v`,
          values: [texts.map(bytes.toSql)],
        });
        expect(rows).toEqual([...texts].sort().map((value) => ({ value, isFound: true })));
      }),
      { numRuns: 30 },
    );
  });
});
