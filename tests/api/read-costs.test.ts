// What a read costs does not grow with the tables: pages touched in PostgreSQL, on tables of many rows.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { reads } from "../../src/protocol/reads.ts";
import type { Read } from "../../src/schema/read.ts";
import type { SqlText } from "../../src/schema/statement.ts";
import type { Table } from "../../src/schema/table.ts";
import type { Session } from "../../src/store/session.ts";
import { createRowIndexes, createRowTables } from "../../src/store/row-tables.ts";
import { openTestDatabase } from "../support/test-index.ts";

const ROWS = 50_000;
const NOW = 1_800_000_000;

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let statements = 0;

const hex = (digits: number, number: string) => `'0x' || lpad(to_hex(${number}), ${digits}, '0')`;

// Values that repeat a hundred times or so, but for a few that repeat a thousand times less or more.
function valueOf(table: Table, column: string): string {
  const { sql, nullable } = table.columns[column] ?? { sql: "", nullable: true };
  const special: Readonly<Record<string, string>> = {
    // One in a thousand is still open in truth; the others that were never closed have expired long ago.
    "intents.deadline": `case when i % 1000 = 7 then ${NOW} + i else i end`,
    "intents.status": "case when i % 4 = 3 then 'OPEN' else 'FILLED' end",
    "policies.policy_type": "'TARGET_ALLOWLIST'",
    "policies.account": hex(40, "i / 200"),
    "bids.intent_id": "i / 20",
    // What nearly nobody says.
    "trust_signals.subject_type": "case when i = 9 then 3 else 0 end",
    "merchants.active": "i % 5000 <> 9",
  };
  const named = special[`${table.name}.${column}`];
  if (named) return named;
  if (column === "block_number") return "1";
  if (table.key.includes(column)) return sql.startsWith("text") ? hex(40, "i") : "i";
  if (nullable) return "null";
  if (sql === "boolean") return "i % 2 = 0";
  if (sql.startsWith("text")) return hex(column.includes("hash") || column.includes("sub") ? 64 : 40, "i % 500");
  return sql === "integer" ? "i % 4" : "i % 500";
}

async function fill(session: Session, table: Table): Promise<void> {
  const columns = Object.keys(table.columns);
  const values = columns.map((column) => valueOf(table, column)).join(", ");
  const few = table.key.some((column) => ["scope", "payment_rail", "kind"].includes(column));
  await session.query(
    `insert into ${table.name} (${columns.join(", ")}, valid_from, valid_to)
     select ${values}, v, nullif(v + 1, 3) from generate_series(1, ${few ? 4 : ROWS}) i, generate_series(1, 2) v`,
  );
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

function readOf(path: string): Read {
  const read = reads.find((each) => each.path === path);
  if (!read) throw new Error(`there is no ${path}`);
  return read;
}

const planOf = (path: string, values: Record<string, unknown>, asOf: bigint | null = null): SqlText =>
  readOf(path).plan({ values, asOf, provenance: false }).sql;

type Node = Record<string, unknown> & { Plans?: Node[] };

/** Pages touched by the statement as the API runs it: prepared, and used often enough to have a plan of its own. */
async function cost({ text, values }: SqlText): Promise<{ pages: number; rows: number; whole: string[]; ms: number, node: Node }> {
  const literal = (value: unknown) =>
    value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`;
  return opened.database.transaction(async (session) => {
    statements += 1;
    const name = `cost_${statements}`;
    const whole = `select h.block_number as _head, r.* from checkpoint h cross join deployment d left join lateral (select true as _found, s.* from (${text}) s) r on true`;
    await session.query(`prepare ${name} as ${whole}`);
    const run = `execute ${name}${values.length > 0 ? `(${values.map(literal).join(", ")})` : ""}`;
    for (let times = 0; times < 6; times += 1) await session.query(run);
    const { rows } = await session.query<{ "QUERY PLAN": [{ Plan: Node; "Execution Time": number }] }>(
      `explain (analyze, buffers, timing off, format json) ${run}`,
    );
    const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
    const plan = explained?.Plan ?? {};
    const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)];
    return {
      pages: Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]),
      rows: Number(plan["Actual Rows"]),
      ms: Number(explained?.["Execution Time"]),
      whole: all(plan)
        .filter((node) => node["Node Type"] === "Seq Scan")
        .map((node) => String(node["Relation Name"])),
      node: plan,
    };
  });
}
const cursor = (...keys: string[]) => keys;
const A = `0x${"1".padStart(40, "0")}`, H = `0x${"1".padStart(64, "0")}`;
it("try", async () => {
  const cases: [string, Record<string, unknown>, bigint?][] = [
    ["/agents", { owner: A }], ["/agents", { owner: A }, 1n],
    ["/agents/:agentId", { agentId: "777" }], ["/agents/:agentId", { agentId: "777" }, 1n],
    ["/intents", {}], ["/intents", { cursor: ["100"] }], ["/intents", { status: "open" }], ["/intents", { status: "open", cursor: ["20000"] }],["/intents", { status: "expired" }], ["/intents", { status: "filled" }], ["/intents", { status: "cancelled" }],
    ["/intents", { status: "open" }, 1n],
    ["/intents/:id", { id: "5" }],
    ["/intents/:id/bids", { id: "5" }],["/intents/:id/bids", { id: "5", status: "open" }, 1n],
    ["/accounts/:address/policies", { address: A }], ["/accounts/:address/policies", { address: A, cursor: ["TARGET_ALLOWLIST", "0x00000000000000000000000000000000000000ee"] }], ["/accounts/:address/policies", { address: A }, 1n],
    ["/attestations", { schema: H }], ["/attestations", { subject: H }], ["/attestations", { attester: A }], ["/attestations", { attester: A }, 1n], ["/attestations", {cursor: ["49000"]}],
    ["/attestations", { attester: A, schema: H }],
    ["/solvers", {}], ["/solvers", { operator: A }], ["/solvers", { active: true }], ["/solvers", { active: false, cursor: ["40000"] }],["/solvers", { operator: A }, 1n],
    ["/attestors", { operator: A }], ["/attestors", { active: true }],
    ["/merchants", { owner: A }], ["/merchants", { active: false }], ["/merchants", { active: true }], ["/merchants", { active: false }, 1n],
    ["/merchants/:id/reputation", { id: "5" }],["/merchants/:id/reputation", { id: "5" }, 1n],
    ["/services", { merchant_id: "1" }], ["/services", { capability_hash: H }], ["/services", { active: true }], ["/services", { capability_hash: H }, 1n],
    ["/facilitators", { active: false }], ["/quotes/:quoteHash", { quoteHash: H }],
    ["/receipts", { agent: A }], ["/receipts", { merchant_id: "1" }], ["/receipts", { merchant_id: "1" }, 1n], ["/receipts", { cursor: ["77"] }],
    ["/disputes", { receipt_id: "1" }], ["/trust-signals", { subject_type: "3" }], ["/trust-signals", { subject_type: "0" }],["/trust-signals", { subject_id: "1" }], ["/trust-signals", { kind: "1" }], ["/trust-signals", { reporter: A }], ["/trust-signals", { subject_type: "0", subject_id: "1" }],["/trust-signals", { subject_type: "3" }, 1n],
    ["/analytics/commerce", {}], ["/analytics/commerce", {}, 1n],["/analytics/commerce", {}, 2n],
    ["/tx/:hash/explain", { hash: H }],
  ];
  for (const [path, values, asOf] of cases) {
    const c = await cost(planOf(path, values, asOf ?? null));
    console.log(path, JSON.stringify(values), asOf ?? "", c.rows, "rows", c.pages, "pages", c.ms, "ms", c.whole.join());
  }
}, 60000);
