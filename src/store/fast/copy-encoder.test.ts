// Values that COPY reads in binary are those that PostgreSQL reads from text, and what it would reject never reaches it.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import {
  type CopyBinaryType,
  type CopyBinaryValue,
  encodeCopyBinary,
  encodeCopyRows,
  joinCopyRows,
} from "./copy-encoder.ts";

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const { connection } = server;
  database = await openDatabase({ connection, schema: "sextant", poolMax: 1, log, applicationName: "test" });
  await database.query(
    `create table copied (line integer, small integer, large bigint, amount numeric(79,0), total numeric, flag boolean,
      note text, bytes bytea)`,
  );
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

const TYPES: readonly CopyBinaryType[] = [
  ...(["int4", "int4", "int8", "numeric", "numeric", "boolean", "text", "bytea"] as const),
];

const numberLines = (rows: readonly (readonly CopyBinaryValue[])[]) =>
  rows.map((row, line) => [line, ...row]);

async function copy(
  rows: readonly (readonly CopyBinaryValue[])[],
  messages = encodeCopyBinary(TYPES, numberLines(rows)),
): Promise<void> {
  await database.query("truncate copied");
  await database.transaction((session) =>
    session.sendPipeline([{ copy: "copy copied from stdin (format binary)", messages }]),
  );
}

const asText = (value: CopyBinaryValue): string | null => (value === null ? null : String(value));

/** The number of rows that differ from the same values as text, which PostgreSQL parses; numeric to its last bit. */
async function countDifferences(rows: readonly (readonly CopyBinaryValue[])[]): Promise<number> {
  const lists = [0, 1, 2, 3, 4, 5, 6].map((at) => rows.map((row) => asText(row[at] ?? null)));
  const { rows: found } = await database.query<{ count: number }>({
    text: `select count(*)::int as count from copied c
      full join unnest($1::int[], $2::bigint[], $3::numeric[], $4::numeric[], $5::boolean[], $6::text[], $7::text[])
        with ordinality e(small, large, amount, total, flag, note, bytes, line) on e.line = c.line + 1
      where (c.small, c.large, c.flag, c.note, c.bytes, numeric_send(c.amount), numeric_send(c.total)) is distinct from
        (e.small, e.large, e.flag, e.note, decode(substring(e.bytes from 3), 'hex'), numeric_send(e.amount), numeric_send(e.total))`,
    values: lists,
  });
  return found[0]?.count ?? -1;
}

const powers = [0n, 1n, 9_999n, 10_000n, 99_999_999n, 100_000_000n, 10n ** 20n, 12_345n * 10n ** 40n];
const limits = [
  2n ** 48n - 1n,
  2n ** 48n,
  281_474_969_999_999n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n,
  2n ** 256n - 1n,
];
const edges = [...powers, ...limits].flatMap((value) => [value, -value]);
const amount = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }));
const total = fc.oneof(amount, fc.bigInt({ min: 0n, max: 10n ** 300n }));
const large = fc.oneof(
  fc.constantFrom(0, -1, 2 ** 31, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const small = fc.oneof(fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)), fc.integer());
// PostgreSQL has no text with the character zero, in either format.
const note = fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll("\0", ""));
const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => `0x${Buffer.from(array).toString("hex")}`);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { freq: 8 });
const row = fc.tuple(
  ...[
    orNull(small),
    orNull(large),
    orNull(amount),
    orNull(total),
    orNull(fc.boolean()),
    orNull(note),
    orNull(bytes),
  ],
);

describe("a copy in binary", () => {
  it("stores the values that PostgreSQL reads from text", async () => {
    const run = fc.asyncProperty(fc.array(row, { maxLength: 200 }), async (rows) => {
      await copy(rows as CopyBinaryValue[][]);
      expect(await countDifferences(rows as CopyBinaryValue[][])).toBe(0);
    });
    await fc.assert(run, { numRuns: 20 });
  });

  it("stores rows that are encoded in parts, and none from parts without rows", async () => {
    const rows = [1, 40_000, 0, 70_000, 3].map((length, at) => [
      at,
      BigInt(at),
      -3n,
      10n ** 28n,
      true,
      "é".repeat(length),
      `0x${"ab".repeat(length)}`,
    ]);
    const lines = numberLines(rows);
    const parts = [lines.slice(0, 2), [], lines.slice(2, 3), lines.slice(3)];
    const encoded = parts.flatMap((part) => encodeCopyRows(TYPES, part));
    await copy(rows, joinCopyRows(encoded));
    expect(await countDifferences(rows)).toBe(0);
    await copy([], joinCopyRows([]));
    expect(await countDifferences([])).toBe(0);
  });

  it("stores values that are longer than a message, and rows that end in another one", async () => {
    const long = "💡é".repeat(50_000);
    const rows = [10, 65_536, 3, 70_000, 21_800, 21_850].flatMap((length) => [
      [1, 2, 3n, 10n ** 280n, true, long.slice(0, length), `0x${"ab".repeat(length)}`],
      [1, 2n, 3n, 4n, false, "", "0x"],
    ]);
    await copy(rows);
    expect(await countDifferences(rows)).toBe(0);
  });
});

describe("a value that PostgreSQL would change or misread", () => {
  const wrong: readonly (readonly [string, CopyBinaryType, CopyBinaryValue])[] = [
    ["an integer beyond 32 bits", "int4", 2 ** 31],
    ["a fraction", "int4", 0.5],
    ["a bigint beyond 64 bits", "int8", 2n ** 63n],
    ["a negative one", "int8", -(2n ** 63n) - 1n],
    ["a number that is not exact", "int8", 2 ** 53],
    ["text that is not hex", "bytea", "0x0g"],
    ["text whose first digit is not hex", "bytea", "0xg0"],
    ["a character beyond ASCII", "bytea", "0x0é"],
    ["one whose lower bits are those of a digit", "bytea", "0x0\u0131"],
    ["long text that is not hex", "bytea", `0x${"ab".repeat(40)}zz`],
    ["half a byte", "bytea", "0xabc"],
    ["half a byte at the end of a long text", "bytea", `0x${"ab".repeat(40)}a`],
    ["hex without its prefix", "bytea", ""],
    ["hex whose first byte is in the place of the prefix", "bytea", "abcd"],
    ["two characters that are not hex", "bytea", "zz"],
    ["a fraction in numeric", "numeric", 1.5],
    ["NaN in numeric", "numeric", Number.NaN],
    ["a number in its scientific form", "numeric", 1e21],
    ["a text of digits in numeric", "numeric", "-12"],
    ["PostgreSQL's text of true", "boolean", "t"],
    ["a number as true", "boolean", 1],
  ];
  it.each(wrong)("rejects %s", (_, type, value) => {
    expect(() => encodeCopyBinary([type], [[value]])).toThrow();
  });
});
