// Cost of a read's statement in PostgreSQL: the pages and rows that its plan touches.
import { tables } from "../../../src/protocol/domains.ts";
import type { SqlText } from "../../../src/schema/sql.ts";
import { buildReadText } from "../../../src/store/index/reader.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

type Plan = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Plan[] };

type StatementCost = {
  readonly pages: number;
  /** Rows that filters removed. */
  readonly removed: number;
  /** Tables with a sequential scan. */
  readonly scanned: readonly string[];
};

/** How the statement is repeated until PostgreSQL settles on a plan. */
type WarmUp = "planned" | "executed";

// Tables that stay small.
const SMALL = ["commerce_totals", "protocol_totals", "rail_volumes", "signal_counts"];
const ROW_TABLES = tables.map(({ name }) => name).filter((name) => !SMALL.includes(name));
// PostgreSQL plans the first five executions for their values, then keeps the cheaper of custom and generic plan. The
// generic plan must not be forced: with a limit as parameter, PostgreSQL often keeps the custom one.
const CUSTOM_PLANS = 5;

let prepared = 0;

/** Explains the statement that the API runs, with the plan of a prepared statement that is used often. */
export async function explainStatement(
  database: Database,
  { text, values }: SqlText,
  warmUp: WarmUp = "planned",
): Promise<Plan> {
  const literals = values.map((value) =>
    value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`,
  );
  const { rows } = await database.transaction(async (session) => {
    prepared += 1;
    const execute = `execute read_${prepared}${literals.length > 0 ? `(${literals.join(", ")})` : ""}`;
    await session.query(`prepare read_${prepared} as ${buildReadText(text)}`);
    // EXPLAIN counts as a use of the plan, without the work.
    const use = warmUp === "planned" ? `explain ${execute}` : execute;
    for (let times = 0; times < CUSTOM_PLANS; times += 1) await session.query(use);
    return session.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
      `explain (analyze, buffers, timing off, format json) ${execute}`,
    );
  });
  return rows[0]?.["QUERY PLAN"][0]?.Plan ?? {};
}

/** `large` are the tables of which a sequential scan counts. */
export async function measureStatementCost(
  database: Database,
  statement: SqlText,
  large: readonly string[] = ROW_TABLES,
): Promise<StatementCost> {
  const root = await explainStatement(database, statement);
  const nodes = listNodes(root);
  return {
    pages: Number(root["Shared Hit Blocks"]) + Number(root["Shared Read Blocks"]),
    removed: nodes.reduce(
      (sum, node) => sum + Number(node["Rows Removed by Filter"] ?? 0) * Number(node["Actual Loops"]),
      0,
    ),
    scanned: nodes
      .filter((node) => node["Node Type"] === "Seq Scan")
      .map((node) => String(node["Relation Name"]))
      .filter((name) => large.includes(name)),
  };
}

const MEASURED =
  /^(Actual|Shared|Local|Temp|Rows Removed|Heap Fetches|Sort (Method|Space)|Peak Memory|Hash B|Original Hash|Index Searches|Async|Disabled|Exact|Lossy|Planning|WAL|I\/O)/;

/** The plan without what its execution measured, to compare two plans. */
export function describePlan(node: Plan): unknown {
  const entries = Object.entries(node).filter(([key]) => key !== "Plans" && !MEASURED.test(key));
  return { ...Object.fromEntries(entries), Plans: (node.Plans ?? []).map(describePlan) };
}

function listNodes(node: Plan): readonly Plan[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}
