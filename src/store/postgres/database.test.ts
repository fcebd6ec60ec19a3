// Statements and transactions on a real server, with connections lost at the worst moments.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { Fault } from "../../lib/fault.ts";
import { createLog } from "../../lib/log.ts";
import { encodeCopyLine, encodeCopyLines } from "../fast/copy-encoder.ts";
import { type Database, openDatabase } from "./database.ts";
import { sqlState } from "./errors.ts";
import type { Session } from "./session.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  database = await open({});
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

const SETTINGS = { schema: "sextant", poolMax: 4, applicationName: "test" };
const STOCK_DEFAULTS = {
  jit: "on",
  max_parallel_workers_per_gather: "2",
  random_page_cost: "4",
  work_mem: "4MB",
};

async function open(options: { schema?: string; poolMax?: number; statementTimeoutMs?: number }) {
  return await openDatabase({ connection: server.connection, log, ...SETTINGS, ...options });
}

async function readValue(session: { query: Session["query"] }, sql: string): Promise<unknown> {
  const { rows } = await session.query(sql);
  return Object.values(rows[0] ?? {})[0];
}

async function createTable(name: string): Promise<void> {
  await database.query(`CREATE TABLE ${name} (n integer PRIMARY KEY, note text)`);
}

describe("schemas", () => {
  it.each([
    ["Upper", /lower-case letters/],
    ['a"b', /lower-case letters/],
    ["pg_own", /not with pg_/],
    ["sextant_rebuild", /must not end in _rebuild/],
  ])("rejects %s as the name of a schema", async (schema, message) => {
    await expect(open({ schema })).rejects.toMatchObject({ code: "CONFIG_INVALID", message });
  });
});

describe("statements", () => {
  it("returns exact values, and parses JSON and booleans", async () => {
    const { rows } = await database.query(`SELECT
      115792089237316195423570985008687907853269984665640564039457584007913129639935::numeric AS word,
      9007199254740993::int8 AS big, ARRAY[0.1, 12345678901234567890.5]::numeric[] AS numbers, true AS flag,
      ARRAY[9007199254740993]::int8[] AS bigs, '{"a": [1]}'::jsonb AS json, DATE '2024-02-29' AS day,
      TIMESTAMP '2024-02-29 12:00' AS local, TIMESTAMPTZ '2024-02-29 12:00Z' AS instant`);
    expect(rows[0]).toEqual({
      word: "115792089237316195423570985008687907853269984665640564039457584007913129639935",
      big: "9007199254740993",
      numbers: ["0.1", "12345678901234567890.5"],
      flag: true,
      bigs: ["9007199254740993"],
      json: { a: [1] },
      day: "2024-02-29",
      local: "2024-02-29 12:00:00",
      instant: new Date("2024-02-29T12:00:00Z"),
    });
  });

  it("accepts every type of value in a prepared statement", async () => {
    const statement = {
      name: "kinds",
      text: "SELECT $1::numeric AS word, $2::text[] AS texts, $3::bytea AS bytes, $4::bool AS flag, $5::text AS nothing",
      values: [2n ** 256n - 1n, ["a,b", 'c"\\', null, ""], Buffer.from("00ff", "hex"), false, null],
    };
    for (let time = 0; time < 2; time += 1) {
      const { rows, count } = await database.query(statement);
      expect(count).toBe(1);
      expect(rows[0]).toEqual({
        word: (2n ** 256n - 1n).toString(),
        texts: ["a,b", 'c"\\', null, ""],
        bytes: "0x00ff",
        flag: false,
        nothing: null,
      });
    }
  });

  it("runs statements in our schema and in UTC on every connection", async () => {
    const results = await Promise.all(
      Array.from({ length: 4 }, () =>
        database.query("SELECT current_schema() AS s, current_setting('TimeZone') AS z, pg_sleep(0.02)"),
      ),
    );
    for (const { rows } of results) expect(rows[0]).toMatchObject({ s: "sextant", z: "UTC" });
    expect(database.pool).toMatchObject({ total: 4, idle: 4, waiting: 0 });
  });

  it("plans statements for short reads, whatever the defaults of the server", async () => {
    const stock = await createTestDatabase();
    const admin = await openDatabase({ connection: stock.connection, log, ...SETTINGS });
    // Defaults of a stock PostgreSQL, which the embedded server of the tests does not have.
    for (const [setting, value] of Object.entries(STOCK_DEFAULTS)) {
      await admin.query(`ALTER DATABASE "${stock.name}" SET ${setting} TO '${value}'`);
    }
    await admin.close();
    const opened = await openDatabase({ connection: stock.connection, log, ...SETTINGS });
    const dedicated = await opened.connect("test", { pipeline: true });
    try {
      const names = Object.keys(STOCK_DEFAULTS);
      const settings = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`;
      const expected = {
        jit: "off",
        max_parallel_workers_per_gather: "0",
        random_page_cost: "1.1",
        work_mem: "8MB",
      };
      expect((await opened.query(settings)).rows).toEqual([expected]);
      expect((await dedicated.query(settings)).rows).toEqual([expected]);
    } finally {
      await dedicated.end();
      await opened.close();
      await stock.drop();
    }
  });

  it("passes on the server's error about data, and keeps the connection", async () => {
    await createTable("unique_rows");
    await database.query("INSERT INTO unique_rows VALUES (1)");
    const before = database.pool.total;
    const failure = await database.query("INSERT INTO unique_rows VALUES (1)").catch((error) => error);
    expect(failure).not.toBeInstanceOf(Fault);
    expect(sqlState(failure)).toBe("23505");
    expect(database.pool.total).toBe(before);
  });

  it("ends a statement at its time limit, which a transaction can raise", async () => {
    const hasty = await open({ statementTimeoutMs: 50 });
    await expect(hasty.query("SELECT pg_sleep(5)")).rejects.toMatchObject({ code: "TIMED_OUT" });
    const longer = hasty.transaction((session) => session.query("SELECT pg_sleep(0.1)"), {
      statementTimeoutMs: 5_000,
    });
    await expect(longer).resolves.toMatchObject({ count: 1 });
    expect(await readValue(hasty, "SELECT current_setting('statement_timeout')")).toBe("50ms");
    await hasty.close();
  });
});

describe("transactions", () => {
  it("commits all of a transaction or nothing", async () => {
    await createTable("all_or_nothing");
    const insert = (n: number) => ({ text: "INSERT INTO all_or_nothing VALUES ($1)", values: [n] });
    await database.transaction((session) => session.query(insert(1)));
    const failed = database.transaction(async (session) => {
      await session.query(insert(2));
      throw new Error("changed my mind");
    });
    await expect(failed).rejects.toThrow("changed my mind");
    const rejected = database.transaction(async (session) => {
      await session.query(insert(3));
      await session.query(insert(1));
    });
    await expect(rejected).rejects.toMatchObject({ code: "23505" });
    expect(await readValue(database, "SELECT string_agg(n::text, ',') FROM all_or_nothing")).toBe("1");
  });

  it("fails a transaction in which an error was swallowed", async () => {
    await createTable("hidden");
    const hiding = database.transaction(async (session) => {
      await session.query("INSERT INTO hidden VALUES (1)");
      await session.query("SELECT 1 / 0").catch(() => undefined);
    });
    await expect(hiding).rejects.toThrow("rolled back");
    expect(await readValue(database, "SELECT count(*)::int FROM hidden")).toBe(0);
  });

  it("runs concurrent statements of a transaction, and rejects any after its end", async () => {
    await createTable("in_order");
    let escaped: Session | undefined;
    await database.transaction(async (session) => {
      escaped = session;
      await Promise.all(
        [1, 2, 3].map((n) => session.query(`INSERT INTO in_order VALUES (${n}, now()::text)`)),
      );
    });
    expect(await readValue(database, "SELECT count(*)::int FROM in_order")).toBe(3);
    await expect(escaped?.query("SELECT 1")).rejects.toThrow("has ended");
  });

  it("runs a transaction read only, and on one snapshot, on request", async () => {
    await createTable("moments");
    const write = database.transaction((session) => session.query("INSERT INTO moments VALUES (1)"), {
      access: "read only",
    });
    await expect(write).rejects.toMatchObject({ code: "25006" });
    const counts = await database.transaction(
      async (session) => {
        const first = await readValue(session, "SELECT count(*)::int FROM moments");
        await database.query("INSERT INTO moments VALUES (2)");
        return [first, await readValue(session, "SELECT count(*)::int FROM moments")];
      },
      { isolation: "repeatable read" },
    );
    expect(counts).toEqual([0, 0]);
  });

  it("reports a transaction that lost a conflict as retryable", async () => {
    await createTable("contested");
    await database.query("INSERT INTO contested VALUES (1, 'a')");
    const loser = database.transaction(
      async (session) => {
        await session.query("SELECT * FROM contested");
        await database.query("UPDATE contested SET note = 'b'");
        await session.query("UPDATE contested SET note = 'c'");
      },
      { isolation: "serializable" },
    );
    await expect(loser).rejects.toMatchObject({ code: "DATABASE_BUSY", retry: true });
    expect(await readValue(database, "SELECT note FROM contested")).toBe("b");
  });
});

describe("a lost connection", () => {
  const TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1";

  it("rolls back the transaction of a lost connection, and the pool recovers", async () => {
    await createTable("lost");
    const lost = database.transaction(async (session) => {
      await session.query("INSERT INTO lost VALUES (1)");
      const pid = Number(await readValue(session, "SELECT pg_backend_pid()"));
      await database.query({ text: TERMINATE, values: [pid] });
      // Long enough for the error to arrive while no statement runs.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await session.query("INSERT INTO lost VALUES (2)");
    });
    await expect(lost).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
    expect(await readValue(database, "SELECT count(*)::int FROM lost")).toBe(0);
  });

  it("fails only the statement that runs on a lost connection", async () => {
    const slow = database.query("SELECT pg_sleep(10) /* to be terminated */");
    const outcome = expect(slow).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    const sql = `SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity
                 WHERE query LIKE '%to be terminated%' AND pid <> pg_backend_pid()`;
    while ((await readValue(database, sql)) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await outcome;
    expect(await readValue(database, "SELECT 1")).toBe(1);
  });

  it("replaces a lost idle connection silently", async () => {
    const other = await open({ poolMax: 1 });
    const pid = Number(await readValue(other, "SELECT pg_backend_pid()"));
    await database.query({ text: TERMINATE, values: [pid] });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await readValue(other, "SELECT pg_backend_pid()")).not.toBe(pid);
    await other.close();
  });

  it("keeps the connection after a network error of the work itself", async () => {
    const before = database.pool.total;
    const upstream = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const failed = database.transaction(async (session) => {
      await session.query("SELECT 1");
      throw upstream;
    });
    await expect(failed).rejects.toBe(upstream);
    expect(database.pool.total).toBe(before);
  });
});

describe("closing", () => {
  it("ends every connection before it resolves, and rejects later statements", async () => {
    const other = await openDatabase({
      connection: server.connection,
      schema: "sextant",
      poolMax: 4,
      log,
      applicationName: "to be closed",
    });
    await Promise.all([1, 2, 3, 4].map(() => other.query("SELECT pg_sleep(0.02)")));
    const count = "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'to be closed'";
    expect(await readValue(database, count)).toBe(4);
    await other.close();
    await expect.poll(() => readValue(database, count), { timeout: 1_000, interval: 5 }).toBe(0);
    await expect(other.query("SELECT 1")).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });
});

describe("sendPipeline", () => {
  const COPY = "COPY copied (n, note) FROM STDIN";
  const rows = (lines: Iterable<readonly (string | null)[]>) => ({
    copy: COPY,
    messages: encodeCopyLines([...lines].map(encodeCopyLine)),
  });

  it("runs steps in order, and copies rows exactly with any characters", async () => {
    await createTable("copied");
    const notes = ["plain", "tab\there", "line\nbreak\r", "back\\slash \\N", "", "ünï💡", null];
    const many = Array.from({ length: 20_000 }, (_, n) => [String(n), notes[n % notes.length] ?? null]);
    await database.transaction((session) =>
      session.sendPipeline([
        rows(many),
        { text: "UPDATE copied SET note = $1 WHERE n = $2", values: ["changed", 19_999] },
        rows([["20000", "last"]]),
        // Its row is dropped.
        { text: "SELECT count(*) FROM copied" },
      ]),
    );
    const stored = await database.query<{ note: string | null }>(
      `SELECT note FROM copied WHERE n < ${notes.length} ORDER BY n`,
    );
    expect(stored.rows.map(({ note }) => note)).toEqual(notes);
    const ends = await database.query<{ note: string | null }>(
      "SELECT note FROM copied WHERE n > 19998 ORDER BY n",
    );
    expect(ends.rows.map(({ note }) => note)).toEqual(["changed", "last"]);
  });

  it("rejects all steps when one row is invalid, and keeps the connection", async () => {
    await database.query("TRUNCATE copied");
    const before = database.pool.total;
    const many = Array.from({ length: 200_000 }, (_, n) => [n === 10 ? "ten" : String(n), "x".repeat(50)]);
    const rejected = database.transaction((session) =>
      session.sendPipeline([
        rows([["-1", "first"]]),
        rows(many),
        rows([["-2", "later"]]),
        { text: "SELECT 1" },
      ]),
    );
    await expect(rejected).rejects.toMatchObject({ code: "22P02" });
    expect(await readValue(database, "SELECT count(*)::int FROM copied")).toBe(0);
    expect(database.pool.total).toBe(before);
  });

  it("rejects all steps when a statement fails or a COPY cannot begin", async () => {
    const wrong = [
      { text: "SELECT 1 / $1::int", values: [0] },
      { copy: "COPY nowhere FROM STDIN", messages: encodeCopyLines(["1\n", "2\n"]) },
      { text: "not SQL" },
    ];
    for (const step of wrong) {
      const rejected = database.transaction((session) =>
        session.sendPipeline([rows([["1", "one"]]), step, rows([["2", "two"]])]),
      );
      await expect(rejected).rejects.toMatchObject({ code: expect.stringMatching(/^(22012|42P01|42601)$/) });
      expect(await readValue(database, "SELECT count(*)::int FROM copied")).toBe(0);
    }
  });

  it("prepares a named statement once on its connection, also after failures and with another text", async () => {
    const alone = await open({ poolMax: 1 });
    await alone.query("CREATE TABLE named (n integer)");
    const add = (by: number, text = `INSERT INTO named SELECT $1::int + ${by}`) =>
      ({ name: "add", text, values: [by] }) as const;
    const send = (...steps: Parameters<Session["sendPipeline"]>[0]) =>
      alone.transaction((session) => session.sendPipeline(steps));
    const preparedAt = () => readValue(alone, "SELECT prepare_time FROM pg_prepared_statements");
    const failing = { text: "SELECT 1 / 0" };
    // Before the failure the server has prepared it, after the failure it has not.
    await expect(send(add(1), failing)).rejects.toMatchObject({ code: "22012" });
    await send(add(1), add(1));
    const first = await preparedAt();
    await send(add(1));
    expect(await preparedAt()).toEqual(first);
    await expect(send(failing, add(2))).rejects.toMatchObject({ code: "22012" });
    await send(add(2), { ...add(3), name: "other" });
    await send(add(1), add(2));
    expect(await readValue(alone, "SELECT array_agg(n ORDER BY n)::text FROM named")).toBe("{2,2,2,2,4,4,6}");
    expect(await readValue(alone, "SELECT count(*)::int FROM pg_prepared_statements")).toBe(2);
    await alone.close();
  });

  it("does nothing without steps", async () => {
    await database.transaction((session) => session.sendPipeline([]));
    expect(await readValue(database, "SELECT count(*)::int FROM copied")).toBe(0);
  });

  it("fails when the server ends the session half-way", async () => {
    const lost = database.transaction((session) =>
      session.sendPipeline([
        rows([["1", "one"]]),
        { text: "SELECT pg_terminate_backend(pg_backend_pid())" },
        rows([["2", "two"]]),
      ]),
    );
    await expect(lost).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    expect(await readValue(database, "SELECT count(*)::int FROM copied")).toBe(0);
  });
});
