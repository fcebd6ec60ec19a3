// Two filters with many matches each and none in common: declared slow, or served by an index over both.
// Long tables: no test of main sees the plans.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { Read, ReadInput } from "../../src/schema/reads/read.ts";
import type { Table } from "../../src/schema/table.ts";
import { createRowIndexes, createRowTables } from "../../src/store/index/row-tables.ts";
import type { Session } from "../../src/store/postgres/session.ts";
import { measureStatementCost } from "../support/index/statement-cost.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

const ROWS = 5_000;
const NOW = 1_800_000_000;
const PAGES_MAX = 600;
const REMOVED_MAX = 200;
const PAGING = ["limit", "offset", "cursor"];

let opened: Awaited<ReturnType<typeof openTestDatabase>>;

const hex = (digits: number, number: string) => `'0x' || lpad(to_hex(${number}), ${digits}, '0')`;
const isText = (sql: string) => sql === "bytea" || sql.startsWith("text");
const digitsOf = (column: string) => (/hash|schema|subject/.test(column) ? 64 : 40);

/** Columns that an index begins with partition the rows: no row has the value 1 in two of them. */
function sampleOf(table: Table, column: string): string {
  const { sql, nullable } = table.columns[column] ?? { sql: "", nullable: true };
  if (table.key.includes(column)) return isText(sql) ? hex(40, "i") : "i";
  const listedBy = [...new Set(table.indexes.map(([first]) => first))];
  const position = listedBy.indexOf(column);
  if (position < 0 && nullable) return "null";
  const isOne = position < 0 ? "true" : `i % ${listedBy.length} = ${position}`;
  if (sql === "boolean") return isOne;
  const number = `case when ${isOne} then 1 else 2 end`;
  return isText(sql) ? hex(digitsOf(column), number) : number;
}

async function fill(session: Session, table: Table): Promise<void> {
  const columns = Object.keys(table.columns);
  const values = Object.entries(table.columns)
    .map(([column, { isHex }]) =>
      isHex ? `decode(substr(${sampleOf(table, column)}, 3), 'hex')` : sampleOf(table, column),
    )
    .join(", ");
  const count = table.key.some((column) => ["scope", "payment_rail"].includes(column)) ? 4 : ROWS;
  await session.query(
    `insert into ${table.name} (${columns.join(", ")}, valid_from, valid_to) select ${values}, 1, null from generate_series(1, ${count}) i`,
  );
}

beforeAll(async () => {
  opened = await openTestDatabase();
  await opened.database.transaction(async (session) => {
    await createRowTables(session, tables);
    for (const table of tables) await fill(session, table);
    await createRowIndexes(session, tables);
    await session.query(`insert into checkpoint values (true, 1, '\\x00', ${NOW}, 1)`);
    await session.query("insert into deployment values (true, 1, 1, '{}')");
    await session.query(`insert into blocks values (1, '\\x00', ${NOW}, 1)`);
  });
  await opened.database.query("analyze");
});

afterAll(() => opened.drop());

const ADDRESS = `0x${"1".padStart(40, "0")}`;
const HASH = `0x${"1".padStart(64, "0")}`;
const VALUES: ReadInput["values"] = {
  ...Object.fromEntries(
    ["owner", "operator", "attester", "agent", "reporter", "facilitator", "token", "opener"].map((name) => [
      name,
      ADDRESS,
    ]),
  ),
  ...Object.fromEntries(["schema", "subject", "capability_hash", "quote_hash"].map((name) => [name, HASH])),
  ...Object.fromEntries(
    ["merchant_id", "receipt_id", "service_numeric_id", "subject_id", "subject_type", "kind"].map((name) => [
      name,
      "1",
    ]),
  ),
  pair: `${ADDRESS}-${ADDRESS}`,
  solver: ADDRESS,
  active: true,
  revoked: true,
  status: "open",
};

function pairsOf(read: Read): [string, Read, ReadInput["values"]][] {
  const filters = read.parameters
    .filter((parameter) => parameter.in === "query" && !PAGING.includes(parameter.name))
    .map(({ name }) => name);
  return filters.flatMap((one, at) =>
    filters.slice(at + 1).map((other): [string, Read, ReadInput["values"]] => {
      for (const name of [one, other]) if (!(name in VALUES)) throw new Error(`no sample value for ${name}`);
      return [`${read.path} ${one} and ${other}`, read, { [one]: VALUES[one], [other]: VALUES[other] }];
    }),
  );
}

const lists = indexReads.filter(({ parameters }) => parameters.some(({ name }) => name === "cursor"));
const pairs = lists.flatMap(pairsOf);
const input = { asOf: null, provenance: false };

describe("a pair of filters", () => {
  it.each(pairs)("declares a pair of filters slow, or visits few rows: %s", async (_title, read, values) => {
    const plan = read.plan({ ...input, values });
    if (plan.cost === "slow") return;
    const cost = await measureStatementCost(opened.database, plan.sql);
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBeLessThan(REMOVED_MAX);
    expect(cost.pages).toBeLessThan(PAGES_MAX);
  });

  it("declares only a pair quick with which one index begins", () => {
    const quick = pairs.filter(([, read, values]) => read.plan({ ...input, values }).cost === "quick");
    expect(quick.map(([title]) => title)).toEqual(["/trust-signals subject_type and subject_id"]);
  });
});

describe("intents by status", () => {
  it("declares intents by status quick, except expired ones", () => {
    const read = lists.find(({ path }) => path === "/intents");
    const costs = ["open", "filled", "cancelled", "expired"].map(
      (status) => read?.plan({ ...input, values: { status } }).cost,
    );
    expect(costs).toEqual(["quick", "quick", "quick", "slow"]);
  });
});
