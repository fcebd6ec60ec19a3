// Statements whose columns are asked for once: the same cells the second time, and failures that reach whoever asked.
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
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
  client = await database.connect("cells", { pipeline: true });
});

afterEach(async () => {
  await client.end();
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

function ask(text: string, values: readonly unknown[] = [], timeoutMs = 0, name = text.slice(0, 60)) {
  return new Promise<ResultRows>((resolve, reject) => {
    const done = (error: unknown, cells: ResultRows) => (error ? reject(error) : resolve(cells));
    client.query(new RawRowQuery({ name, text, values }, timeoutMs, done));
  });
}

const KINDS = `SELECT $1::text AS t, $2::integer AS i, $3::bigint AS big, $4::numeric AS n, $5::boolean AS b,
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

describe("a statement on a pipelined connection", () => {
  it("has the same cells when its columns are known as when they were asked for", async () => {
    for (const text of TEXTS) {
      const values = [text, 7, "9007199254740993", "0.10", true];
      const cells = [
        text,
        7,
        "9007199254740993",
        "0.10",
        true,
        { k: text },
        ["0.10"],
        null,
        Buffer.from("x"),
      ];
      expect((await ask(KINDS, values)).rows).toEqual([cells]);
    }
    const { columns } = await ask(KINDS, [null, null, null, null, null]);
    expect(columns).toEqual(["t", "i", "big", "n", "b", "j", "list", "nothing", "bytes"]);
  });

  it("asks for its columns once", async () => {
    const described: unknown[] = [];
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on("rowDescription", (message) => described.push(message));
    for (let time = 0; time < 3; time += 1) {
      expect(await ask("SELECT $1::int AS n WHERE $1 > 1", [time])).toEqual({
        columns: ["n"],
        rows: time > 1 ? [[time]] : [],
      });
    }
    expect(described).toHaveLength(1);
  });

  it("takes lists, the second time too", async () => {
    for (const list of [["a", "b,c"], ['d"e']]) {
      expect((await ask("SELECT unnest($1::text[])", [list])).rows).toEqual(list.map((each) => [each]));
    }
  });

  it("fails alone, knows its columns or not, and does not lend its name", async () => {
    const quotient = (by: number) => ask("SELECT 6 / $1::int", [by]);
    const outcomes = await Promise.allSettled([quotient(0), quotient(2), quotient(0), quotient(3)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    await expect(quotient(0)).rejects.toMatchObject({ code: "22012" });
    expect((await quotient(1)).rows).toEqual([[6]]);
    await expect(ask("SELECT 1", [], 0, "SELECT 6 / $1::int")).rejects.toThrow("must be unique");
  });

  it("is given up with its connection when the server takes too long, and so is what waits behind it", async () => {
    client.on("error", () => undefined);
    const outcomes = await Promise.allSettled([
      ask("SELECT pg_sleep(20)", [], 100),
      ask("SELECT 1", [], 5_000),
    ]);
    expect(outcomes[0]).toMatchObject({ reason: { message: "Query read timeout" } });
    for (const outcome of outcomes) {
      expect(outcome.status === "rejected" && isConnectionBroken(outcome.reason)).toBe(true);
    }
  });
});
