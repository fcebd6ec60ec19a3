// The cost of a read does not grow with the tables: PostgreSQL visits hardly more rows than it returns.
// Long tables and every read: no test of main sees the plans; src/store/index/row-indexes.test.ts covers that the indexes are made.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reservationRead } from "../../src/api/writes/intent-metadata.ts";
import { tables } from "../../src/protocol/domains.ts";
import { VERSIONED_TABLES } from "../../src/protocol/event-page.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { Read, ReadInput } from "../../src/schema/reads/read.ts";
import { type SqlText, type SqlValue, sql } from "../../src/schema/sql.ts";
import { formatKey, type Table } from "../../src/schema/table.ts";
import { createRowsBeforeQuery, type RowBefore } from "../../src/store/index/block-rows.ts";
import { buildReadText } from "../../src/store/index/reader.ts";
import { createRowIndexes, createRowTables } from "../../src/store/index/row-tables.ts";
import { bornIndexName, readIndexes } from "../../src/store/index/versioned-rows.ts";
import type { Session } from "../../src/store/postgres/session.ts";
import {
  describePlan,
  explainStatement,
  listPlannedIndexes,
  measureStatementCost,
} from "../support/index/statement-cost.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

const ROWS = 5_000;
const NOW = 1_800_000_000;
// Rows of each table that changed after the earlier block.
const CHANGED = 50;
// Index and heap pages for 51 records with two joins; a whole table has thousands.
const PAGES_MAX = 600;
const REMOVED_MAX = 200;

const ADDRESS = `0x${"1".padStart(40, "0")}`;
const HASH = `0x${"1".padStart(64, "0")}` as const;

let opened: Awaited<ReturnType<typeof openTestDatabase>>;

const hex = (digits: number, number: string) => `'0x' || lpad(to_hex(${number}), ${digits}, '0')`;
const isText = (sql: string) => sql === "bytea" || sql.startsWith("text");

const SPECIAL: Readonly<Record<string, string>> = {
  // Few are really open; the others that were never closed expired long ago.
  "intents.deadline": `case when i % 500 = 7 then ${NOW} + i else i end`,
  "intents.status": "case when i % 4 = 3 then 'OPEN' else 'FILLED' end",
  "intents.selected_solver": hex(40, "i % 100"),
  "disputes.status": "case when i % 2000 = 9 then 'OPEN' else 'RESOLVED' end",
  "policies.policy_type": "case when i % 2 = 0 then 'SPEND_LIMIT' else 'TARGET_ALLOWLIST' end",
  "policies.account": hex(40, "i / 1000"),
  "session_keys.account": hex(40, "i / 1000"),
  "bids.intent_id": "i / 20",
  // Rare values must be found as quickly as common ones.
  "trust_signals.subject_type": "case when i = 9 then 3 else 0 end",
  "trust_signals.kind": "case when i % 2000 = 9 then 2 else 1 end",
  "merchants.active": "i % 2000 <> 9",
  "solvers.active": "i % 2000 = 9",
  "agents.revoked": "i % 2000 = 9",
  // Activity up to now, and deadlines long past or soon to come.
  "activity_hours.hour": `${NOW} / 3600 - 5000 + i`,
  "open_intents.hour": `${NOW} / 3600 - 4900 + i`,
  // One token has most of the volume, by many merchants and payers.
  "volume_series.hours": "case when i % 2 = 0 then 1 else 24 end",
  "volume_series.dimension": "(array['rail', 'merchant', 'facilitator'])[i % 3 + 1]",
  "volume_series.subject": `case when i % 3 = 2 then ${hex(40, "1")} else '1' end`,
  "volume_series.token": hex(40, "1"),
  "volume_series.start": `${NOW} / 86400 * 86400 - i * 3600`,
  ...Object.fromEntries(
    ["merchant_flows", "payer_flows", "facilitator_flows"].map((table) => [`${table}.token`, hex(40, "1")]),
  ),
  "payer_flows.merchant_id": "i % 25",
  "facilitator_flows.merchant_id": "i % 25",
};

function sampleOf(table: Table, column: string): string {
  const { sql, nullable } = table.columns[column] ?? { sql: "", nullable: true };
  const special = SPECIAL[`${table.name}.${column}`];
  if (special) return special;
  if (column === "block_number") return "1";
  if (table.key.includes(column)) return isText(sql) ? hex(40, "i") : "i";
  if (nullable) return "null";
  if (sql === "boolean") return "i % 2 = 0";
  if (sql === "integer") return "i % 4";
  const many = "i % 100";
  return isText(sql) ? hex(/hash|schema|subject/.test(column) ? 64 : 40, many) : many;
}

async function fill(session: Session, table: Table): Promise<void> {
  const columns = Object.keys(table.columns);
  const values = Object.entries(table.columns)
    .map(([column, { isHex }]) =>
      isHex ? `decode(substr(${sampleOf(table, column)}, 3), 'hex')` : sampleOf(table, column),
    )
    .join(", ");
  const count = table.key.some((column) => ["scope", "payment_rail"].includes(column)) ? 4 : ROWS;
  const insert = `insert into ${table.name} (${columns.join(", ")}, valid_from, valid_to) select ${values}`;
  await session.query(
    `${insert}, 1, case when i <= ${CHANGED} then 2 end from generate_series(1, ${count}) i`,
  );
  await session.query(`${insert}, 2, null from generate_series(1, ${Math.min(CHANGED, count)}) i`);
}

beforeAll(async () => {
  opened = await openTestDatabase();
  await opened.database.transaction(async (session) => {
    await createRowTables(session, tables);
    for (const table of tables) await fill(session, table);
    await createRowIndexes(session, tables);
    await session.query(`insert into checkpoint values (true, 2, '\\x00', ${NOW}, 1)`);
    await session.query("insert into deployment values (true, 1, 1, '{}')");
    await session.query(`insert into blocks select n, '\\x00', ${NOW}, 1 from generate_series(1, 2) n`);
  });
  await opened.database.query("analyze");
});

afterAll(() => opened.drop());

const PATH_VALUES: Readonly<Record<string, string>> = {
  address: ADDRESS,
  agentId: "777",
  id: "77",
  quoteHash: HASH,
  hash: HASH,
  intentHash: HASH,
};
const FILTER_VALUES: Readonly<Record<string, readonly SqlValue[]>> = {
  ...Object.fromEntries(
    ["owner", "operator", "attester", "agent", "reporter", "facilitator", "token", "opener"].map((name) => [
      name,
      [ADDRESS],
    ]),
  ),
  ...Object.fromEntries(["schema", "subject", "capability_hash", "quote_hash"].map((name) => [name, [HASH]])),
  ...Object.fromEntries(
    ["merchant_id", "receipt_id", "service_numeric_id", "subject_id"].map((name) => [name, ["1"]]),
  ),
  pair: [`${ADDRESS}-${ADDRESS}`],
  solver: [ADDRESS],
  active: [true, false],
  revoked: [true, false],
  status: ["open", "filled", "cancelled", "expired", "selected", "rejected", "resolved"],
  subject_type: ["0", "3"],
  interval: ["hour", "day"],
  payment_rail: ["1"],
  from: [String(NOW - 86_400)],
  to: [String(NOW - 86_400)],
  kind: ["1", "2", "3"],
};
const PAGING = ["limit", "offset", "cursor"];
const NEVER: SqlText = sql`select 1 / 0`;

function pathValues({ parameters }: Read): ReadInput["values"] {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return Object.fromEntries(inPath.map(({ name }) => [name, PATH_VALUES[name]]));
}

function casesOf(read: Read): [string, Read, ReadInput["values"]][] {
  const base = pathValues(read);
  const filters = read.parameters.filter(
    (parameter) => parameter.in === "query" && !PAGING.includes(parameter.name),
  );
  const required = Object.fromEntries(
    filters.filter((each) => each.required).map(({ name }) => [name, FILTER_VALUES[name]?.[0]]),
  );
  const narrowed = filters.flatMap(({ name }) => {
    const values = FILTER_VALUES[name];
    if (!values) throw new Error(`no sample value for ${name}`);
    return values.map((value) => ({ ...base, ...required, [name]: value }));
  });
  return [{ ...base, ...required }, ...narrowed].map((values) => [
    `${read.path} ${JSON.stringify(values)}`,
    read,
    values,
  ]);
}

const lists = indexReads.filter(({ parameters }) => parameters.some(({ name }) => name === "cursor"));
const input = { asOf: null, provenance: false };

describe("a read of the newest block", () => {
  it.each(indexReads.flatMap(casesOf))("visits few rows: %s", async (_title, read, values) => {
    const cost = await measureStatementCost(opened.database, read.plan({ ...input, values }).sql);
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBeLessThan(REMOVED_MAX);
    expect(cost.pages).toBeLessThan(PAGES_MAX);
  });
});

describe("open intents", () => {
  const read = indexReads.find(({ path }) => path === "/intents");
  const LIVE = `${NOW} + 1000`;
  const open = (values: ReadInput["values"] = {}) =>
    read?.plan({ ...input, values: { status: "open", ...values } }).sql ?? NEVER;

  async function idsOf({ text, values }: SqlText): Promise<unknown[]> {
    const { rows } = await opened.database.query({ text: buildReadText(text), values: values as never });
    return rows.map((row) => row.intent_id);
  }

  // Every case sets all deadlines.
  beforeAll(async () => {
    await opened.database.query(
      "create table deadlines_before as select intent_id, deadline from intents where valid_to is null",
    );
  });
  afterAll(async () => {
    await opened.database.query(
      "update intents i set deadline = b.deadline from deadlines_before b where b.intent_id = i.intent_id and i.valid_to is null",
    );
    await opened.database.query("drop table deadlines_before");
    await opened.database.query("analyze intents");
  });

  it.each([
    ["most are live", LIVE],
    ["the older half is live", `case when intent_id < 2500 then ${LIVE} else 1 end`],
    ["one in ten is live", `case when (intent_id / 4)::int % 10 = 0 then ${LIVE} else 1 end`],
    ["few are live, the oldest", `case when intent_id < 100 then ${LIVE} else 1 end`],
    ["none is live", "1"],
  ])("lists all open intents cheaply if %s", async (_title, deadline) => {
    const { database } = opened;
    await database.query(`update intents set deadline = ${deadline} where valid_to is null`);
    // Leftovers of the updates of earlier cases must not be measured.
    await database.query("vacuum analyze intents");
    const live = await database.query<{ intent_id: string }>(
      `select intent_id from intents where valid_to is null and status = 'OPEN' and deadline > ${NOW} order by intent_id desc`,
    );
    const expected = live.rows.map(({ intent_id }) => intent_id);
    expect(await idsOf(open({ limit: 100 }))).toEqual(
      expected.length === 0 ? [null] : expected.slice(0, 101),
    );
    const [, cursor = "1"] = expected;
    const later = await idsOf(open({ limit: 100, cursor: [cursor] }));
    expect(later.filter((id) => id !== null)).toEqual(expected.slice(2, 103));
    const skipped = await idsOf(open({ limit: 10, offset: "150" }));
    expect(skipped.filter((id) => id !== null)).toEqual(expected.slice(150, 161));
    const cost = await measureStatementCost(database, open());
    expect(cost.scanned).toEqual([]);
    // Expired intents that are newer than every live one are visited, at most 1,250.
    expect(cost.pages).toBeLessThan(PAGES_MAX * 3);
  });
});

/** After four fifths of the list. */
async function deepCursor(
  read: Read,
  values: ReadInput["values"],
  asOf: ReadInput["asOf"] = null,
): Promise<readonly string[]> {
  const { sql } = read.plan({ ...input, asOf, values: { ...values, limit: 100_000 } });
  const counted = await opened.database.query<{ count: string }>({
    text: `select count(*) from (${buildReadText(sql.text)}) every`,
    values: sql.values as never,
  });
  const offset = String(Math.floor(Number(counted.rows[0]?.count) * 0.8));
  const plan = read.plan({ ...input, asOf, values: { ...values, limit: 1, offset } });
  const { rows } = await opened.database.query({
    text: buildReadText(plan.sql.text),
    values: plan.sql.values as never,
  });
  const resultRows = { columns: Object.keys(rows[0] ?? {}), rows: rows.map(Object.values) };
  const { pagination } = plan.assemble(resultRows) as { pagination: { next_cursor?: string } };
  expect(pagination.next_cursor).toBeDefined();
  return JSON.parse(Buffer.from(String(pagination.next_cursor), "base64url").toString());
}

describe("a page deep in a list", () => {
  it.each(lists.map((read) => [read.path, read] as const))(
    "costs as much as the first page: %s",
    async (_path, read) => {
      const [[, , values] = ["", read, {}]] = casesOf(read);
      const cursor = await deepCursor(read, values);
      const first = await measureStatementCost(opened.database, read.plan({ ...input, values }).sql);
      const deep = await measureStatementCost(
        opened.database,
        read.plan({ ...input, values: { ...values, cursor } }).sql,
      );
      expect(deep.removed).toBeLessThanOrEqual(first.removed + REMOVED_MAX);
      expect(deep.pages).toBeLessThan(first.pages * 2 + 20);
    },
  );
});

// Quick reads share connections, so the declaration must be right.
describe("the declared cost of a plan", () => {
  const QUICK_OFFSET = "1000";

  it.each(lists.map((read) => [read.path, read] as const))(
    "declares a list slow at an earlier block or with a large offset: %s",
    (_path, read) => {
      const [[, , values] = ["", read, {}]] = casesOf(read);
      expect(read.plan({ ...input, values }).cost).toBe("quick");
      expect(read.plan({ ...input, values: { ...values, offset: QUICK_OFFSET } }).cost).toBe("quick");
      expect(read.plan({ ...input, values: { ...values, offset: "1001" } }).cost).toBe("slow");
      expect(read.plan({ ...input, values, asOf: { block: 1n, time: null } }).cost).toBe("slow");
    },
  );

  it("declares a record by key quick, at any block", () => {
    const records = indexReads.filter((read) => !lists.includes(read) && read.recentOnly !== true);
    for (const asOf of [null, { block: 1n, time: null }]) {
      const costs = records.map((read) => read.plan({ ...input, asOf, values: pathValues(read) }).cost);
      expect(new Set(costs)).toEqual(new Set(["quick"]));
    }
  });

  it("visits only the skipped rows at the largest quick offset", async () => {
    const read = lists.find(({ path }) => path === "/attestations");
    const cost = await measureStatementCost(
      opened.database,
      read?.plan({ ...input, values: { offset: QUICK_OFFSET } }).sql ?? NEVER,
    );
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBeLessThan(REMOVED_MAX);
    expect(cost.pages).toBeLessThan(Number(QUICK_OFFSET) + PAGES_MAX);
  });
});

describe("a read of an earlier block", () => {
  it.each(indexReads.flatMap(casesOf))("visits few rows: %s", async (_title, read, values) => {
    const cost = await measureStatementCost(
      opened.database,
      read.plan({ ...input, values, asOf: { block: 1n, time: null } }).sql,
    );
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBeLessThan(REMOVED_MAX * 2);
    expect(cost.pages).toBeLessThan(PAGES_MAX * 3);
  });
});

describe("a page deep in a list of an earlier block", () => {
  it.each(lists.map((read) => [read.path, read] as const))(
    "visits few rows, with and without filters: %s",
    async (_path, read) => {
      const cases = casesOf(read);
      const cursor = await deepCursor(read, cases[0]?.[2] ?? {}, { block: 1n, time: null });
      for (const [title, , values] of cases) {
        const plan = read.plan({ ...input, asOf: { block: 1n, time: null }, values: { ...values, cursor } });
        const cost = await measureStatementCost(opened.database, plan.sql);
        expect(cost.scanned, title).toEqual([]);
        expect(cost.removed, title).toBeLessThan(REMOVED_MAX * 2);
        expect(cost.pages, title).toBeLessThan(PAGES_MAX * 3);
      }
    },
  );
});

describe("a list of an earlier block", () => {
  // A thousand of each filter's value.
  const LATER = 20_000;
  const LATER_BLOCK = 5;
  const receipts = tables.find(({ name }) => name === "receipts");
  const values = [{}, { token: ADDRESS }, { facilitator: ADDRESS }];

  beforeAll(async () => {
    const columns = Object.keys(receipts?.columns ?? {});
    const later = columns.map((column) => (column === "receipt_id" ? `${ROWS} + n` : `r.${column}`));
    await opened.database.query(
      `insert into receipts (${columns.join(", ")}, valid_from)
         select ${later.join(", ")}, ${LATER_BLOCK} from generate_series(1, ${LATER}) n
         join receipts r on r.receipt_id = 1 + n % 20 and r.valid_to is null`,
    );
    await opened.database.query("analyze receipts");
  });
  afterAll(async () => {
    await opened.database.query(`delete from receipts where valid_from = ${LATER_BLOCK}`);
  });

  it.each(values)("passes none of the rows that came later: /receipts %j", async (filters) => {
    const read = lists.find(({ path }) => path === "/receipts");
    const plan = read?.plan({ ...input, values: { ...filters, limit: 10 }, asOf: { block: 2n, time: null } });
    expect((await measureStatementCost(opened.database, plan?.sql ?? NEVER)).pages).toBeLessThan(250);
  });
});

// A counter of a busy solver has a version for almost every block.
describe("a read of an earlier block of rows that change often", () => {
  const VERSIONS = 3_000;
  const CHANGING = [
    { table: "solver_activity", key: "solver", path: "/solvers" },
    { table: "attester_activity", key: "attester", path: "/attestors" },
  ];

  beforeAll(async () => {
    for (const { table, key } of CHANGING) {
      const columns = Object.keys(tables.find(({ name }) => name === table)?.columns ?? {}).join(", ");
      await opened.database.query(
        `insert into ${table} (${columns}, valid_from, valid_to)
           select ${columns}, 10 + n, 11 + n from ${table}, generate_series(1, ${VERSIONS}) n
           where valid_to is null and ${key} = stored_hex(${key}, '${ADDRESS}')`,
      );
      await opened.database.query(`analyze ${table}`);
    }
  });
  afterAll(async () => {
    for (const { table } of CHANGING)
      await opened.database.query(`delete from ${table} where valid_from > 10`);
  });

  it.each(CHANGING)("visits one version of each: $path", async ({ table, path }) => {
    const { rows } = await opened.database.query<{ count: string }>(
      `select count(*) from ${table} where valid_from > 10`,
    );
    expect(Number(rows[0]?.count)).toBe(VERSIONS);
    for (const read of indexReads.filter((each) => each.path === path || each.path === `${path}/:id`)) {
      const plan = read.plan({
        ...input,
        values: { limit: 100, id: "1" },
        asOf: { block: BigInt(VERSIONS), time: null },
      });
      const cost = await measureStatementCost(opened.database, plan.sql);
      expect(cost.removed).toBeLessThan(REMOVED_MAX);
      expect(cost.pages).toBeLessThan(PAGES_MAX);
    }
  });
});

describe("rows for events", () => {
  beforeAll(async () => {
    await opened.database.query(
      `insert into blocks select n, '\\x01', ${NOW}, 4 from generate_series(100, 5000) n`,
    );
  });
  afterAll(async () => {
    await opened.database.query("delete from blocks where number >= 100");
  });

  it("finds the rows before an event by their keys, without a scan", async () => {
    const limits = { logsMax: 1_000, logBytesMax: 1_000_000, rowBytesMax: 1_000_000 };
    const wanted: RowBefore[] = [];
    for (const table of VERSIONED_TABLES) {
      const { rows } = await opened.database.query<Record<string, NonNullable<unknown>>>(
        `select ${table.key.join(", ")} from ${table.name} where valid_to is null limit 20`,
      );
      for (const row of rows) {
        const key = Object.fromEntries(
          table.key.map((name) => [name, table.columns[name]?.fromSql(row[name] ?? "")]),
        );
        wanted.push({ table, keyText: formatKey(table.key, key), key, block: 3 });
      }
    }
    const query = createRowsBeforeQuery(VERSIONED_TABLES);
    const before = await measureStatementCost(opened.database, query.select(wanted, 3_000, limits));
    expect(before.scanned).toEqual([]);
    expect(before.removed).toBe(0);
    expect(before.pages).toBeLessThan(40 + 4 * wanted.length);
  });
});

describe("an index of rows", () => {
  /** A read of now and of an earlier block with each filter, and a list also with two that are quick now. */
  function statementsOf(read: Read): SqlText[] {
    const cases = casesOf(read).map(([, , values]) => values);
    const filtered = lists.includes(read) ? cases : [];
    const pairs = filtered.flatMap((one, at) =>
      filtered.slice(at + 1).map((other) => ({ ...one, ...other })),
    );
    const quick = pairs.filter((values) => read.plan({ ...input, values }).cost === "quick");
    return [null, { block: 1n, time: null }].flatMap((asOf) =>
      [...cases, ...quick].map((values) => read.plan({ ...input, asOf, values }).sql),
    );
  }

  // Writing needs none of them: a table is filled before they are made.
  it("is in the plan of at least one read, unless rollbacks find their rows by it", async () => {
    const statements = [...indexReads, reservationRead].flatMap(statementsOf);
    const used = await listPlannedIndexes(opened.database, statements);
    const made = tables.flatMap((table) =>
      readIndexes(table).filter(({ name }) => name !== bornIndexName(table)),
    );
    expect(made.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("explainStatement", () => {
  it("explains the plan that PostgreSQL keeps after executions", async () => {
    for (const read of indexReads) {
      const [[, , values] = ["", read, {}]] = casesOf(read);
      const { sql } = read.plan({ ...input, values });
      const executed = await explainStatement(opened.database, sql, "executed");
      expect(describePlan(await explainStatement(opened.database, sql))).toEqual(describePlan(executed));
    }
  });
});
