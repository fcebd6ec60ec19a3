// Bytes per client and day, and bytes altogether: exact however many processes write at once.
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

let place: EmptyIndex;
// Pools of their own, as two processes have.
let processes: readonly Database[];

beforeAll(async () => {
  place = await openEmptyIndex();
  processes = [await openTestConnection(place.connection), await openTestConnection(place.connection)];
});
afterAll(async () => {
  for (const database of processes ?? []) await database.close();
  await place?.drop();
});
beforeEach(async () => {
  await place.database.query("delete from documents; delete from client_writes");
});

type Write = {
  readonly client: string;
  readonly bytes: number;
  readonly process: number;
  readonly fails: boolean;
};

const LIMITS = { clientBytesPerDayMax: 5_000, totalBytesMax: 12_000 };

let written = 0;

async function write({ client, bytes, process, fails }: Write): Promise<string> {
  const database = processes[process % processes.length] as Database;
  const store = openRecordStore(database, { limits: LIMITS });
  written += 1;
  const hash = `0x${written.toString(16).padStart(64, "0")}`;
  try {
    await store.write({ client, tables: [] }, async (changing) => {
      await changing.charge(bytes);
      await changing.run(
        sql`insert into documents (kind, hash, text, size_bytes, stored_bytes) values ('catalog', ${hash}, '', 0, ${bytes})`,
      );
      if (fails) throw new Error("changed its mind");
    });
    return "stored";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "failed";
  }
}

const number = async (text: string): Promise<number> => {
  const { rows } = await place.database.query<{ value: string }>(text);
  return Number(rows[0]?.value);
};

/** What the built-in schemas count as: they are there before anybody writes. */
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

// Chance alone leaves one of the outcomes out now and then.
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

describe("bytes that are stored", () => {
  it("are counted exactly, and never pass a limit, when two processes write at once", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        await place.database.query("delete from documents; delete from client_writes");
        const outcomes = await Promise.all(all.map(write));
        for (const outcome of outcomes) seen.add(outcome);
        const accepted = all.filter((_, index) => outcomes[index] === "stored");
        const total = accepted.reduce((sum, { bytes }) => sum + bytes, 0);
        expect(await number("select bytes as value from stored_total")).toBe(total + (await builtIn()));
        expect(total + (await builtIn())).toBeLessThanOrEqual(LIMITS.totalBytesMax);
        const { rows } = await place.database.query<{ client: string; bytes: string }>(
          "select client, bytes from client_writes order by client",
        );
        const sums = new Map<string, number>();
        for (const { client, bytes } of accepted) sums.set(client, (sums.get(client) ?? 0) + bytes);
        const expected = [...sums].sort().map(([client, bytes]) => ({ client, bytes: String(bytes) }));
        expect(rows).toEqual(expected);
        for (const bytes of sums.values()) expect(bytes).toBeLessThanOrEqual(LIMITS.clientBytesPerDayMax);
        // Nothing is turned away for want of room that was there.
        expect(outcomes.filter((outcome, index) => outcome === "failed" && !all[index]?.fails)).toEqual([]);
      }),
      { numRuns: 15, examples: EXAMPLES },
    );
    expect(seen).toEqual(new Set(["stored", "failed", "RATE_LIMITED", "STORAGE_FULL"]));
  });

  it("count until they are deleted, by whatever hand", async () => {
    const before = await number("select bytes as value from stored_total");
    expect(await write({ client: "a", bytes: 3_000, process: 0, fails: false })).toBe("stored");
    await place.database.query("update documents set stored_bytes = 2000");
    expect(await number("select bytes as value from stored_total")).toBe(before + 2_000);
    await place.database.query("update documents set updated_at = now(), referred_at = now()");
    expect(await number("select bytes as value from stored_total")).toBe(before + 2_000);
    await place.database.query("delete from documents");
    expect(await number("select bytes as value from stored_total")).toBe(before);
    await place.database.query(
      "insert into documents (kind, hash, text, size_bytes, stored_bytes) select 'catalog', n::text, '', 0, 1000 from generate_series(1, 3) n",
    );
    expect(await number("select bytes as value from stored_total")).toBe(before + 3_000);
    await place.database.query("truncate documents");
    expect(await number("select bytes as value from stored_total")).toBe(before);
  });

  it("count where the session has another search path, as a restore has", async () => {
    const client = await place.database.connect("restore");
    try {
      const { schema } = place.database;
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

  it("of another day are another day's", async () => {
    const large = { client: "a", bytes: 5_000, process: 0, fails: false };
    expect([await write(large), await write({ ...large, bytes: 1 })]).toEqual(["stored", "RATE_LIMITED"]);
    await place.database.query("update client_writes set day = day - 1; delete from documents");
    expect(await write(large)).toBe("stored");
  });
});
