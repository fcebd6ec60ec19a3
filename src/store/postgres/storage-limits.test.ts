// Bytes per client and day, and in total: exact with any number of concurrent processes.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type EmptyIndex,
  openEmptyIndex,
  openTestConnection,
} from "../../../tests/support/index/empty-index.ts";
import { sql } from "../../schema/sql.ts";
import type { Database } from "./database.ts";
import { openRecordStore } from "./record-store.ts";

let index: EmptyIndex;
// Separate pools, as two processes have.
let processes: readonly Database[];

beforeAll(async () => {
  index = await openEmptyIndex();
  processes = [await openTestConnection(index.connection), await openTestConnection(index.connection)];
});
afterAll(async () => {
  for (const database of processes ?? []) await database.close();
  await index?.drop();
});
beforeEach(async () => {
  await index.database.query("delete from documents; delete from client_writes");
});

type Write = {
  readonly client: string;
  readonly bytes: number;
  readonly process: number;
  readonly fails: boolean;
};

const LIMITS = { clientBytesPerDayMax: 5_000, totalBytesMax: 12_000 };

let written = 0;

async function write({ client, bytes, process, fails }: Write, limits = LIMITS): Promise<string> {
  const database = processes[process % processes.length] as Database;
  const store = openRecordStore(database, { limits });
  written += 1;
  const hash = `0x${written.toString(16).padStart(64, "0")}`;
  try {
    await store.write({ client, tables: [] }, async (changing) => {
      await changing.charge(bytes, async () => true);
      await changing.run(
        sql`insert into documents (kind, hash, text, size_bytes, stored_bytes) values ('catalog', ${hash}, '', 0, ${bytes})`,
      );
      if (fails) throw new Error("failed on purpose");
    });
    return "stored";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "failed";
  }
}

const number = async (text: string): Promise<number> => {
  const { rows } = await index.database.query<{ value: string }>(text);
  return Number(rows[0]?.value);
};

/** The size of the built-in schemas, which exist before any write. */
const builtIn = () => number("select sum(stored_bytes) as value from attestation_schemas");

const writes = fc.array(
  fc.record({
    client: fc.constantFrom("a", "b", "c", "d"),
    bytes: fc.integer({ min: 1, max: 3_000 }),
    process: fc.integer({ min: 0, max: 1 }),
    fails: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
);

// Random runs miss an outcome now and then.
const full = { bytes: 3_000, process: 0, fails: false };
const EXAMPLES: [Write[]][] = [
  [[{ ...full, client: "a", fails: true }]],
  [
    [
      { ...full, client: "a" },
      { ...full, client: "a", process: 1 },
    ],
  ],
  [["a", "b", "c", "d"].map((client, process) => ({ ...full, client, process }))],
];

describe("stored bytes", () => {
  it("counts stored bytes exactly, and never exceeds a limit, over two processes", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        await index.database.query("delete from documents; delete from client_writes");
        const outcomes = await Promise.all(all.map((each) => write(each)));
        for (const outcome of outcomes) seen.add(outcome);
        const accepted = all.filter((_, index) => outcomes[index] === "stored");
        const total = accepted.reduce((sum, { bytes }) => sum + bytes, 0);
        expect(await number("select bytes as value from stored_total")).toBe(total + (await builtIn()));
        expect(total + (await builtIn())).toBeLessThanOrEqual(LIMITS.totalBytesMax);
        const { rows } = await index.database.query<{ client: string; bytes: string }>(
          "select client, bytes from client_writes order by client",
        );
        const sums = new Map<string, number>();
        for (const { client, bytes } of accepted) sums.set(client, (sums.get(client) ?? 0) + bytes);
        const expected = [...sums].sort().map(([client, bytes]) => ({ client, bytes: String(bytes) }));
        expect(rows).toEqual(expected);
        for (const bytes of sums.values()) expect(bytes).toBeLessThanOrEqual(LIMITS.clientBytesPerDayMax);
        // No write is rejected while there is room.
        expect(outcomes.filter((outcome, index) => outcome === "failed" && !all[index]?.fails)).toEqual([]);
      }),
      { numRuns: 15, examples: EXAMPLES },
    );
    expect(seen).toEqual(new Set(["stored", "failed", "RATE_LIMITED", "STORAGE_FULL"]));
  });

  it("gives a client of an IPv6 /48 with many networks the bytes of three", async () => {
    const stored = { bytes: 1_500, process: 0, fails: false };
    const clients = Array.from({ length: 12 }, (_, each) => `2001:db8:1:${(each * 0x100).toString(16)}`);
    const wide = { clientBytesPerDayMax: 2_000, totalBytesMax: 0 };
    const outcomes: string[] = [];
    for (const client of clients) outcomes.push(await write({ ...stored, client }, wide));
    expect(outcomes.filter((each) => each === "stored")).toHaveLength(4);
    expect(await write({ ...stored, client: "2001:db8:2:0" }, wide)).toBe("stored");
  });

  it("counts stored bytes until they are deleted, also manually", async () => {
    const before = await number("select bytes as value from stored_total");
    expect(await write({ client: "a", bytes: 3_000, process: 0, fails: false })).toBe("stored");
    await index.database.query("update documents set stored_bytes = 2000");
    expect(await number("select bytes as value from stored_total")).toBe(before + 2_000);
    await index.database.query("update documents set updated_at = now(), referred_at = now()");
    expect(await number("select bytes as value from stored_total")).toBe(before + 2_000);
    await index.database.query("delete from documents");
    expect(await number("select bytes as value from stored_total")).toBe(before);
    await index.database.query(
      "insert into documents (kind, hash, text, size_bytes, stored_bytes) select 'catalog', n::text, '', 0, 1000 from generate_series(1, 3) n",
    );
    expect(await number("select bytes as value from stored_total")).toBe(before + 3_000);
    await index.database.query("truncate documents");
    expect(await number("select bytes as value from stored_total")).toBe(before);
  });

  it("counts stored bytes under another search path, such as a restore", async () => {
    const client = await index.database.connect("restore");
    try {
      const { schema } = index.database;
      const total = async () =>
        (await client.query(`select bytes from ${schema}.stored_total`)).rows[0].bytes;
      const before = BigInt(await total());
      await client.query("set search_path to public");
      await client.query(
        `insert into ${schema}.documents (kind, hash, text, size_bytes, stored_bytes) values ('catalog', '0x99', '', 0, 777)`,
      );
      expect(BigInt(await total()) - before).toBe(777n);
    } finally {
      await client.end();
    }
  });

  it("counts the bytes of a client separately per day", async () => {
    const large = { client: "a", bytes: 5_000, process: 0, fails: false };
    expect([await write(large), await write({ ...large, bytes: 1 })]).toEqual(["stored", "RATE_LIMITED"]);
    await index.database.query("update client_writes set day = day - 1; delete from documents");
    expect(await write(large)).toBe("stored");
  });
});
