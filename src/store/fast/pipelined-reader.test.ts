// Many reads over few connections: each gets its own rows, and a failing one affects no other.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import type { ResultRows } from "../../schema/reads/read.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import type { PreparedStatement } from "../postgres/session.ts";
import { openPipelinedReader, type PipelinedReader, QUICK_READER_OPTIONS } from "./pipelined-reader.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
let server: TestDatabase;
let database: Database;
let reader: PipelinedReader;

beforeAll(async () => {
  server = await createTestDatabase();
  database = await openDatabase({
    connection: server.connection,
    schema: "sextant",
    poolMax: 2,
    log,
    applicationName: "test",
  });
  await database.query("CREATE TABLE things (n integer PRIMARY KEY, name text NOT NULL)");
  await database.query("INSERT INTO things SELECT n, 'thing ' || n FROM generate_series(1, 1000) n");
  reader = openPipelinedReader(database, {
    ...QUICK_READER_OPTIONS,
    connections: 2,
    statementTimeoutMs: 5_000,
  });
});

afterAll(async () => {
  await reader.close();
  await database.close();
  await server.drop();
});

const identity = (result: ResultRows) => result;
const readRows = (statement: PreparedStatement) => reader.read(statement, ({ rows }) => rows);
const byNumber = (n: number) => ({
  name: "thing_by_number",
  text: "SELECT n, name FROM things WHERE n = $1",
  values: [n],
});
const quotient = (n: number) => ({ name: "quotient", text: "SELECT 6 / $1::int AS q", values: [n] });

describe("openPipelinedReader", () => {
  it("returns its own row to each of a thousand concurrent reads", async () => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => index + 1);
    const results = await Promise.all(numbers.map((n) => reader.read(byNumber(n), identity)));
    const columns = ["n", "name"];
    expect(results).toEqual(numbers.map((n) => ({ columns, rows: [[n, `thing ${n}`]] })));
  });

  it("fails only the read that fails, among hundreds in flight", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) => readRows(quotient(index % 3))),
    );
    outcomes.forEach((outcome, index) => {
      expect(outcome.status).toBe(index % 3 === 0 ? "rejected" : "fulfilled");
      if (outcome.status === "fulfilled") expect(outcome.value).toEqual([[index % 3 === 1 ? 6 : 3]]);
    });
    const broken = { name: "broken", text: "SELECT nothing FROM nowhere", values: [] };
    const mixed = await Promise.allSettled([readRows(broken), readRows(broken), readRows(byNumber(1))]);
    expect(mixed.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    await expect(readRows(broken)).rejects.toMatchObject({ code: "42P01" });
  });

  it("fails only the read whose callback throws", async () => {
    const failing = () => {
      throw new RangeError("not these");
    };
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => reader.read(byNumber(n), n % 2 === 0 ? failing : ({ rows }) => rows.length)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(outcomes[1]).toMatchObject({ reason: new RangeError("not these") });
    expect(await readRows(byNumber(5))).toEqual([[5, "thing 5"]]);
  });

  it("lets quick reads overtake a slow one", async () => {
    const ended: string[] = [];
    const record = (name: string) => () => ended.push(name);
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    let slow: Promise<unknown> = Promise.resolve();
    // The slow read ends after this transaction, and not before.
    await database.transaction(async (session) => {
      await session.query("SELECT pg_advisory_xact_lock(1)");
      slow = reader.read(
        { name: "wait", text: "SELECT pg_advisory_xact_lock($1::bigint)", values: [1] },
        record("slow"),
      );
      while ((await session.query(waiting)).rows.length === 0);
      // Reads avoid a connection only once it has been silent for a few milliseconds.
      await new Promise((done) => setTimeout(done, 20));
      await Promise.all(Array.from({ length: 50 }, (_, n) => reader.read(byNumber(n + 1), record("quick"))));
    });
    await slow;
    expect(ended).toEqual([...Array.from({ length: 50 }, () => "quick"), "slow"]);
  });

  it("repeats reads in flight on a lost connection", async () => {
    const slow = readRows({ name: "slow", text: "SELECT 1 AS one FROM pg_sleep(0.5)", values: [] });
    const behind = Promise.all(Array.from({ length: 20 }, (_, index) => readRows(byNumber(index + 1))));
    let terminated = 0;
    while (terminated === 0) {
      const { rows } = await database.query<{ terminated: number }>(
        `SELECT count(pg_terminate_backend(pid))::int AS terminated FROM pg_stat_activity
         WHERE application_name = 'test reader' AND datname = current_database() AND query LIKE '%pg_sleep%'`,
      );
      terminated = rows[0]?.terminated ?? 0;
    }
    expect(await slow).toEqual([[1]]);
    expect((await behind).flat()).toHaveLength(20);
  });

  it("gives up only on a read that breaks its connection twice", async () => {
    const text = "SELECT pg_terminate_backend(pg_backend_pid())";
    const deadly = expect(readRows({ name: "deadly", text, values: [] })).rejects.toMatchObject({
      code: "DATABASE_UNREACHABLE",
      retry: true,
    });
    await deadly;
    const results = await Promise.all([1, 2, 3, 4].map((n) => readRows(byNumber(n))));
    expect(results.flat()).toHaveLength(4);
  });

  it("prepares statements again after the schema changed", async () => {
    const all = { name: "all_of_changing", text: "SELECT * FROM changing", values: [] };
    await database.query("CREATE TABLE changing (a integer)");
    expect(await Promise.all([readRows(all), readRows(all)])).toEqual([[], []]);
    await database.query("ALTER TABLE changing ADD b text; INSERT INTO changing VALUES (1, 'b')");
    const results = await Promise.all([1, 2, 3, 4].map(() => readRows(all)));
    for (const rows of results) expect(rows).toEqual([[1, "b"]]);
  });

  it("rejects writes, and limits the time of a statement", async () => {
    const write = { name: "write", text: "DELETE FROM things", values: [] };
    await expect(readRows(write)).rejects.toMatchObject({ code: "25006" });
    expect(await readRows({ name: "limit", text: "SHOW statement_timeout", values: [] })).toEqual([["5s"]]);
  });

  it("rejects reads when too many wait, and after it is closed", async () => {
    const small = openPipelinedReader(database, {
      ...QUICK_READER_OPTIONS,
      connections: 1,
      statementTimeoutMs: 5_000,
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1_200 }, () => small.read(byNumber(1), identity)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1_000);
    expect(outcomes.at(-1)).toMatchObject({ status: "rejected", reason: { code: "OVERLOADED" } });
    await small.close();
    await expect(small.read(byNumber(1), identity)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });
});
