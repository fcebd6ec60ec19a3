// Concurrent point reads, pipelined and from a pool: `npx vitest bench --run src/store/fast/pipelined-reader`.
import { afterAll, bench, describe } from "vitest";
import {
  openMicrobenchDatabase,
  SERVER_BENCH_OPTIONS,
} from "../../../tests/support/database/bench-database.ts";
import { openPipelinedReader, QUICK_READER_OPTIONS } from "./pipelined-reader.ts";

const CONCURRENT = 64;
const READS = 4_096;
const database = await openMicrobenchDatabase();
await database.query(
  "CREATE TABLE things AS SELECT n, md5(n::text) AS a, md5(n::text) AS b FROM generate_series(1, 100000) n",
);
await database.query("CREATE UNIQUE INDEX ON things (n)");
const reader = openPipelinedReader(database, { ...QUICK_READER_OPTIONS, statementTimeoutMs: 10_000 });
afterAll(() => reader.close());

const statement = (n: number) => ({
  name: "thing",
  text: "SELECT * FROM things WHERE n = $1",
  values: [(n * 7_919) % 100_000],
});

/** As clients of the API do: each sends its next request when it has the response to the last. */
async function readAll(read: (n: number) => Promise<number>): Promise<void> {
  let next = 0;
  let found = 0;
  const run = async () => {
    while (next < READS) {
      next += 1;
      const count = await read(next);
      found += count;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
  if (found < READS - 1) throw new Error("rows are missing");
}

describe(`${READS} point reads, ${CONCURRENT} at a time`, () => {
  bench(
    "pipelined reader",
    () => readAll((n) => reader.read(statement(n), ({ rows }) => rows.length)),
    SERVER_BENCH_OPTIONS,
  );
  bench(
    "pool of 10 with prepared statements",
    () => readAll(async (n) => (await database.query(statement(n))).count),
    SERVER_BENCH_OPTIONS,
  );
});
