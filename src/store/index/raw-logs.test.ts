// Raw logs are read back byte for byte, page by page, in whole blocks.
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LogWithDetails } from "../../schema/chain-log.ts";
import { plainBytesSql } from "../../schema/stored-log.ts";
import type { Database } from "../postgres/database.ts";
import { buildBlocksStep } from "./checkpoint.ts";
import {
  buildLogsStep,
  countDistinctLogs,
  encodeLogs,
  type LogForm,
  readLogForm,
  readStoredLogs,
  replaceStoredLogs,
} from "./raw-logs.ts";
import { readRowTablesState, recordRowTables } from "./row-tables.ts";

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ database, drop } = await openTestDatabase());
});
afterEach(async () => {
  await database.query("truncate logs, blocks");
});
afterAll(() => drop());

const bytes = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);
/** Half of them as an ABI encodes: whole words with many zeros. */
const anyBytes = fc.oneof(
  fc.nat(100).chain(bytes),
  fc
    .array(
      fc.nat(2 ** 31).map((number) => number.toString(16).padStart(64, "0")),
      { maxLength: 6 },
    )
    .map((words): Hex => `0x${words.join("")}`),
);
const forms = fc.constantFrom<LogForm>("plain", "packed");

const logs = fc.record({
  address: bytes(20),
  topics: fc.array(bytes(32), { maxLength: 4 }),
  data: anyBytes,
  transactionHash: bytes(32),
  transactionIndex: fc.nat(2 ** 31 - 1),
  details: fc.option(anyBytes),
});
/** Logs per block; many blocks have none. */
const chains = fc.array(fc.array(logs, { maxLength: 4 }), { minLength: 1, maxLength: 12 });

type Sketch = { readonly details: Hex | null } & Pick<
  LogWithDetails["log"],
  "address" | "topics" | "data" | "transactionHash" | "transactionIndex"
>;

async function store(
  blocks: readonly (readonly Sketch[])[],
  form: LogForm = "packed",
): Promise<LogWithDetails[]> {
  const hashOf = (number: number): Hex => `0x${(number + 1).toString(16).padStart(64, "a")}`;
  const detailed = blocks.flatMap((sketches, blockNumber) =>
    sketches.map(({ details, ...log }, logIndex) => ({
      details,
      log: {
        ...log,
        blockNumber,
        blockHash: hashOf(blockNumber),
        blockTimestamp: 1_700_000_000 + blockNumber,
        logIndex,
      },
    })),
  );
  await database.transaction(async (session) => {
    const stored = blocks.map((sketches, number) => ({
      number,
      hash: hashOf(number),
      timestamp: 1_700_000_000 + number,
      logCount: sketches.length,
    }));
    // As the parts of a batch are, of which one may be empty.
    const half = detailed.length >> 1;
    const parts = [detailed.slice(0, half), detailed.slice(half)].flatMap((part) => encodeLogs(part, form));
    await session.sendPipeline([buildLogsStep(parts), buildBlocksStep(stored)]);
  });
  return detailed;
}

describe("stored logs", () => {
  it("marks the rows as stale in the transaction that replaces logs", async () => {
    const declaration = { tables: [], foldVersion: 1 };
    await database.transaction((session) => recordRowTables(session, declaration));
    const replace = () =>
      database.transaction((session) => replaceStoredLogs(session, { from: 0, to: 1 }, []));
    expect(await readRowTablesState(database, declaration)).toBe("current");
    await replace();
    expect(await readRowTablesState(database, declaration)).toBe("stale");
    await database.query("delete from row_tables");
  });

  it("returns logs exactly, in whole blocks, for any page size", async () => {
    await fc.assert(
      fc
        .asyncProperty(
          chains,
          forms,
          fc.integer({ min: 1, max: 9 }),
          fc.nat(12),
          async (blocks, form, logsMax, toBlock) => {
            const expected = (await store(blocks, form)).filter(({ log }) => log.blockNumber <= toBlock);
            const found: LogWithDetails[] = [];
            for (let afterBlock = -1; ; ) {
              const page = await readStoredLogs(database, { afterBlock, toBlock, logsMax });
              const last = page.at(-1)?.log.blockNumber;
              if (last === undefined) break;
              // At least as many as requested unless the end is near; beyond that, only the rest of the last block.
              expect(page.filter(({ log }) => log.blockNumber < last).length).toBeLessThan(logsMax);
              if (last < (expected.at(-1)?.log.blockNumber ?? 0))
                expect(page.length).toBeGreaterThanOrEqual(logsMax);
              found.push(...page);
              afterBlock = last;
            }
            expect(found).toEqual(expected);
          },
        )
        .afterEach(async () => {
          await database.query("truncate logs, blocks");
        }),
      // No time limit of fast-check: it leaves the running case behind, which writes into the tables of the next test.
      { numRuns: 40 },
    );
  });

  it("reads in SQL what was stored in either form, and counts the same bytes and distinct logs", async () => {
    await fc.assert(
      fc.asyncProperty(chains, async (blocks) => {
        const [first] = blocks.flat().flatMap(({ topics }) => topics);
        const key = { topic0: first ?? "0x", address: null, topics: 2, words: [1] };
        const seen: unknown[] = [];
        for (const form of ["plain", "packed"] as const) {
          await store(blocks, form);
          const { rows } = await database.query(
            `select p.*, ${plainBytesSql("l", ["topics"])} as topic_bytes, ${plainBytesSql("l", ["data"])} as data_bytes,
               ${plainBytesSql("l", ["data", "details"])} as bytes
             from logs l cross join lateral plain_log(l.topics, l.data, l.details) p order by block_number, log_index`,
          );
          seen.push([rows, await countDistinctLogs(database, key, 100)]);
          await database.query("truncate logs, blocks");
        }
        expect(seen[1]).toEqual(seen[0]);
      }),
      { numRuns: 40 },
    );
  });

  it("packs repaired logs in a new schema, and leaves them plain in one of an earlier version", async () => {
    const [sketch] = fc.sample(logs, 1);
    if (!sketch) throw new Error("there is no log");
    const topics = [sketch.transactionHash];
    const [log] = await store([[{ ...sketch, topics, data: `0x${"00".repeat(64)}`, details: null }]]);
    if (!log) throw new Error("no log was stored");
    const repair = async () => {
      await database.transaction((session) => replaceStoredLogs(session, { from: 0, to: 1 }, [log]));
      const { rows } = await database.query("select octet_length(data) as bytes from logs");
      expect(await readStoredLogs(database, { afterBlock: -1, toBlock: 0, logsMax: 1 })).toEqual([log]);
      return rows;
    };
    expect([await readLogForm(database), await repair()]).toEqual(["packed", [{ bytes: 2 }]]);
    await database.query("update log_storage set is_packed = false");
    expect([await readLogForm(database), await repair()]).toEqual(["plain", [{ bytes: 64 }]]);
    await database.query("update log_storage set is_packed = true");
  });

  it("returns logs exactly when they fill many messages", async () => {
    const many = fc.sample(logs, { numRuns: 1_500, seed: 7 });
    const expected = await store([many.slice(0, 700), [], many.slice(700)]);
    expect(await readStoredLogs(database, { afterBlock: -1, toBlock: 9, logsMax: 10_000 })).toEqual(expected);
  });

  it.each(["plain", "packed"] as const)(
    "rejects a %s log with a value that is not hex, instead of truncating it",
    (form) => {
      const [sketch] = fc.sample(logs, 1);
      if (!sketch) throw new Error("there is no log");
      const position = { blockNumber: 1, blockHash: sketch.transactionHash, blockTimestamp: 1, logIndex: 0 };
      const log = { ...sketch, ...position, data: "0x12zz34" as Hex };
      expect(() => encodeLogs([{ log, details: null }], form)).toThrow("not hex");
    },
  );

  it("preserves a megabyte of data, missing topics, and missing versus empty details", async () => {
    const hash: Hex = `0x${"1f".repeat(32)}`;
    const plain = { address: `0x${"ab".repeat(20)}` as Hex, transactionHash: hash, transactionIndex: 0 };
    const large: Hex = `0x${Buffer.alloc(2 ** 20, "\\\t\n\0").toString("hex")}`;
    const expected = await store([
      [
        { ...plain, topics: [], data: "0x", details: null },
        { ...plain, topics: [hash, hash, hash, hash], data: large, details: "0x" },
        { ...plain, topics: [hash], data: "0x00", details: large },
      ],
    ]);
    expect(await readStoredLogs(database, { afterBlock: -1, toBlock: 0, logsMax: 1 })).toEqual(expected);
  });
});
