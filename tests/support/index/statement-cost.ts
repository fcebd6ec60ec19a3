// Cost of a read's statement in PostgreSQL: the pages and rows that its plan touches.
import { tables } from "../../../src/protocol/domains.ts";
import type { SqlText } from "../../../src/schema/sql.ts";
import { buildReadText } from "../../../src/store/index/reader.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import type { QueryRunner } from "../../../src/store/postgres/session.ts";

type Plan = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Plan[] };

type StatementCost = {
  readonly pages: number;
  /** Rows that filters removed. */
  readonly removed: number;
  /** Tables with a sequential scan. */
  readonly scanned: readonly string[];
};

/** How the plan is found: by the costs that PostgreSQL compares, or by executions until it has settled on one. */
type PlanChoice = "compared" | "executed";

// Tables that stay small.
const SMALL = ["commerce_totals", "protocol_totals", "rail_volumes", "signal_counts"];
const ROW_TABLES = tables.map(({ name }) => name).filter((name) => !SMALL.includes(name));
// PostgreSQL plans the first five executions for their values, then keeps the cheaper of custom and generic plan. The
// generic plan must not be forced: with a limit as parameter, PostgreSQL often keeps the custom one.
const CUSTOM_PLANS = 5;
// The cost that PostgreSQL adds to a custom plan for the planning: 1,000 operators for each relation, and one relation
// more.
const PLANNING_COST_MIN = 2.5 * 2;
// More relations than any statement of ours has.
const PLANNING_COST_MAX = 2.5 * 100;

let prepared = 0;

/** Explains the statement that the API runs, with the plan of a prepared statement that is used often. */
export async function explainStatement(
  database: Database,
  statement: SqlText,
  choice: PlanChoice = "compared",
): Promise<Plan> {
  const { rows } = await database.transaction(async (session) => {
    const execute = await prepareStatement(session, statement);
    const mode = choice === "compared" ? await choosePlanMode(session, execute) : "auto";
    if (mode === "auto") for (let times = 0; times < CUSTOM_PLANS; times += 1) await session.query(execute);
    await session.query(`set local plan_cache_mode = ${mode}`);
    return session.query<ExplainRow>(`explain (analyze, buffers, timing off, format json) ${execute}`);
  });
  return planOf(rows);
}

/** Returns the statement that executes it. */
async function prepareStatement(session: QueryRunner, { text, values }: SqlText): Promise<string> {
  const literals = values.map((value) =>
    value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`,
  );
  prepared += 1;
  await session.query(`prepare read_${prepared} as ${buildReadText(text)}`);
  return `execute read_${prepared}${literals.length > 0 ? `(${literals.join(", ")})` : ""}`;
}

type ExplainRow = { readonly "QUERY PLAN": readonly { readonly Plan: Plan }[] };

const planOf = (rows: readonly ExplainRow[]): Plan => rows[0]?.["QUERY PLAN"][0]?.Plan ?? {};

type PlanMode = "force_custom_plan" | "force_generic_plan" | "auto";

/** The plan that PostgreSQL keeps, after two plannings instead of seven; `auto` if only executions can tell. */
async function choosePlanMode(session: QueryRunner, execute: string): Promise<PlanMode> {
  const costOf = async (mode: PlanMode) => Number((await planIn(session, mode, execute))["Total Cost"]);
  const saved = (await costOf("force_custom_plan")) - (await costOf("force_generic_plan"));
  await session.query("set local plan_cache_mode = auto");
  if (saved > -PLANNING_COST_MIN) return "force_generic_plan";
  return saved < -PLANNING_COST_MAX ? "force_custom_plan" : "auto";
}

/** Plans the statement without executing it. */
async function planIn(session: QueryRunner, mode: PlanMode, execute: string): Promise<Plan> {
  await session.query(`set local plan_cache_mode = ${mode}`);
  return planOf((await session.query<ExplainRow>(`explain (format json) ${execute}`)).rows);
}

/** The indexes that the statements use, in the plan for their values or in the one for all values. */
export async function listPlannedIndexes(
  database: Database,
  statements: readonly SqlText[],
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  await database.transaction(async (session) => {
    for (const statement of statements) {
      const execute = await prepareStatement(session, statement);
      for (const mode of ["force_custom_plan", "force_generic_plan"] as const)
        for (const node of listNodes(await planIn(session, mode, execute)))
          if ("Index Name" in node) used.add(String(node["Index Name"]));
    }
  });
  return used;
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
