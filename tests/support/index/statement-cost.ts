// The cost of a statement in PostgreSQL: how many pages and rows its plan reads.
import { tables } from "../../../src/protocol/domains.ts";
import type { SqlText } from "../../../src/schema/sql.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

type Plan = Record<string, unknown> & { readonly Plans?: readonly Plan[] };

type StatementCost = {
  readonly pages: number;
  readonly removed: number;
  /** Sequentially scanned tables. */
  readonly whole: readonly string[];
};

// These tables are always small.
const SMALL = ["commerce_totals", "rail_volumes", "signal_counts"];

export const wrapReadStatement = (text: string) =>
  `select r.* from checkpoint h cross join deployment d left join lateral (select s.* from (${text}) s) r on true`;

let prepared = 0;

/** As the API runs it: prepared, and used often enough to have a generic plan. */
export async function measureStatementCost(
  database: Database,
  { text, values }: SqlText,
): Promise<StatementCost> {
  const literals = values.map((value) => `'${String(value).replaceAll("'", "''")}'`);
  const { rows } = await database.transaction(async (session) => {
    prepared += 1;
    const execute = `execute read_${prepared}${literals.length > 0 ? `(${literals.join(", ")})` : ""}`;
    await session.query(`prepare read_${prepared} as ${wrapReadStatement(text)}`);
    for (let times = 0; times < 6; times += 1) await session.query(execute);
    return session.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
      `explain (analyze, buffers, timing off, format json) ${execute}`,
    );
  });
  const root = rows[0]?.["QUERY PLAN"][0]?.Plan ?? {};
  const all = (node: Plan): Plan[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const nodes = all(root);
  return {
    pages: Number(root["Shared Hit Blocks"]) + Number(root["Shared Read Blocks"]),
    removed: nodes.reduce(
      (sum, node) => sum + Number(node["Rows Removed by Filter"] ?? 0) * Number(node["Actual Loops"]),
      0,
    ),
    whole: nodes
      .filter((node) => node["Node Type"] === "Seq Scan")
      .map((node) => String(node["Relation Name"]))
      .filter((name) => tables.some((table) => table.name === name) && !SMALL.includes(name)),
  };
}
