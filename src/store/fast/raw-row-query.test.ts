// Statements whose columns are described once: the same rows the second time, and errors that are thrown to their caller.
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import type { ResultRows } from "../../schema/reads/read.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import { isConnectionBroken } from "../postgres/errors.ts";
import { RawRowQuery } from "./raw-row-query.ts";

let server: TestDatabase;
let database: Database;
let client: Client;

beforeAll(async () => {
  server = await createTestDatabase();
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const { connection } = server;
  database = await openDatabase({ connection, schema: "sextant", poolMax: 1, log, applicationName: "test" });
});

beforeEach(async () => {
  client = await database.connect("rows", { pipeline: true });
});

afterEach(async () => {
  await client.end();
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

function run(text: string, values: readonly unknown[] = [], timeoutMs = 0, name = text.slice(0, 60)) {
  return new Promise<ResultRows>((resolve, reject) => {
    const done = (error: unknown, result: ResultRows) => (error ? reject(error) : resolve(result));
    client.query(new RawRowQuery({ name, text, values }, timeoutMs, done));
  });
}

const TYPES = `SELECT $1::text AS t, $2::integer AS i, $3::bigint AS big, $4::numeric AS n, $5::boolean AS b,
  json_build_object('k', $1::text) AS j, ARRAY[$4::numeric] AS list, null::text AS nothing, 'x'::bytea AS bytes`;
const TEXTS = [
  "",
  "plain",
  '"quoted" \\ back',
  "line\nbreak\ttab\u0001",
  "ä € 😀 \u2028",
  '{"json":1}',
  "NULL",
];

describe("RawRowQuery", () => {
  it("returns the same rows with and without known columns", async () => {
    for (const text of TEXTS) {
      const values = [text, 7, "9007199254740993", "0.10", true];
      const row = [text, 7, "9007199254740993", "0.10", true, { k: text }, ["0.10"], null, "0x78"];
      expect((await run(TYPES, values)).rows).toEqual([row]);
    }
    const { columns } = await run(TYPES, [null, null, null, null, null]);
    expect(columns).toEqual(["t", "i", "big", "n", "b", "j", "list", "nothing", "bytes"]);
  });

  it("describes its columns once", async () => {
    const described: unknown[] = [];
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on("rowDescription", (message) => described.push(message));
    for (let time = 0; time < 3; time += 1) {
      expect(await run("SELECT $1::int AS n WHERE $1 > 1", [time])).toEqual({
        columns: ["n"],
        rows: time > 1 ? [[time]] : [],
      });
    }
    expect(described).toHaveLength(1);
  });

  it("accepts lists, also the second time", async () => {
    for (const list of [["a", "b,c"], ['d"e']]) {
      expect((await run("SELECT unnest($1::text[])", [list])).rows).toEqual(list.map((each) => [each]));
    }
  });

  it("fails alone, with or without known columns, and rejects a name with another text", async () => {
    const quotient = (by: number) => run("SELECT 6 / $1::int", [by]);
    const outcomes = await Promise.allSettled([quotient(0), quotient(2), quotient(0), quotient(3)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    await expect(quotient(0)).rejects.toMatchObject({ code: "22012" });
    expect((await quotient(1)).rows).toEqual([[6]]);
    await expect(run("SELECT 1", [], 0, "SELECT 6 / $1::int")).rejects.toThrow("must be unique");
  });

  it("breaks the connection when the server takes too long, and fails the queries behind it", async () => {
    client.on("error", () => undefined);
    const outcomes = await Promise.allSettled([
      run("SELECT pg_sleep(20)", [], 100),
      run("SELECT 1", [], 5_000),
    ]);
    expect(outcomes[0]).toMatchObject({ reason: { message: "Query read timeout" } });
    for (const outcome of outcomes) {
      expect(outcome.status === "rejected" && isConnectionBroken(outcome.reason)).toBe(true);
    }
  });
});
