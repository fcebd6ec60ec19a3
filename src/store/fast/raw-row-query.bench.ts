// Prepared statements with and without RawRowQuery: `npx vitest bench --run src/store/fast/raw-row-query`.
import { afterAll, bench, describe } from "vitest";
import {
  openMicrobenchDatabase,
  SERVER_BENCH_OPTIONS,
} from "../../../tests/support/database/bench-database.ts";
import { RawRowQuery } from "./raw-row-query.ts";

const READS = 1_000;
const database = await openMicrobenchDatabase();
await database.query(`CREATE TABLE things AS
  SELECT n, n * 7 AS other, n::numeric AS amount, md5(n::text) AS a, md5(n::text) AS b, md5(n::text) AS c
  FROM generate_series(1, 10000) n`);
await database.query("CREATE UNIQUE INDEX ON things (n)");
const client = await database.connect("bench", { pipeline: true });
afterAll(() => client.end());

const statements = {
  "a single row": { text: "SELECT * FROM things WHERE n = $1", rows: 1, reads: READS },
  "a page of 100 rows": {
    text: "SELECT * FROM things WHERE n >= $1 ORDER BY n LIMIT 100",
    rows: 100,
    reads: 100,
  },
};

function readRaw(name: string, text: string, n: number): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(
      new RawRowQuery({ name, text, values: [n] }, 10_000, (error, { rows }) =>
        error ? reject(error) : resolve(rows.length),
      ),
    );
  });
}

for (const [title, { text, rows, reads }] of Object.entries(statements)) {
  const check = (counts: readonly number[]) => {
    if (counts.some((count) => count !== rows)) throw new Error("rows are missing");
  };
  const numbers = Array.from({ length: reads }, (_, index) => index + 1);
  describe(`${reads} pipelined reads of ${title}`, () => {
    bench(
      "RawRowQuery",
      async () => check(await Promise.all(numbers.map((n) => readRaw(`raw ${rows}`, text, n)))),
      SERVER_BENCH_OPTIONS,
    );
    bench(
      "client.query with rowMode array",
      async () => {
        const config = { name: `array ${rows}`, text, rowMode: "array" as const };
        const results = await Promise.all(numbers.map((n) => client.query({ ...config, values: [n] })));
        check(results.map((result) => result.rows.length));
      },
      SERVER_BENCH_OPTIONS,
    );
  });
}
