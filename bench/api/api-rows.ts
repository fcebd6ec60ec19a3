// The rows the API is measured over, made inside PostgreSQL: tables, counters, blocks, and logs of the bids only.
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { encodeEventTopics } from "viem";
import { tableAudits } from "../../src/audit/tables/all-tables.ts";
import { CONTRACT_NAMES } from "../../src/protocol/deployment.ts";
import { tables } from "../../src/protocol/domains.ts";
import type { Table } from "../../src/schema/table.ts";
import { createRowIndexes, createRowTables } from "../../src/store/index/row-tables.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import type { Session } from "../../src/store/postgres/session.ts";
import { logProgress } from "../harness/progress.ts";
import {
  BENCH_GENESIS,
  BLOCK_SECONDS,
  digestSql,
  hashSql,
  type RowGenerator,
  rowGenerators,
  type TableSizes,
} from "./row-generators.ts";

/** Makes tables, rows, logs of all bids, counters, and the checkpoint that says the rows are true. */
export async function generateRows(database: Database, sizes: TableSizes): Promise<void> {
  const made = rowGenerators(sizes);
  const unknown = Object.keys(made).filter((name) => !tables.some((table) => table.name === name));
  if (unknown.length > 0) throw new Error(`there are no tables ${unknown.join(", ")}`);
  await database.transaction(
    async (session) => {
      await createRowTables(session, tables);
      for (const table of tables) {
        const making = made[table.name];
        if (making) await makeTable(session, table, making, sizes.blocks);
      }
      await makeChain(session, sizes);
      await countRollups(session, sizes.blocks);
      logProgress("indexes");
      await createRowIndexes(session, tables);
    },
    { statementTimeoutMs: 0 },
  );
  const client = await database.connect("vacuum", { statementTimeoutMs: 0 });
  await client.query("vacuum analyze");
  await client.end();
}

async function makeTable(
  session: Session,
  table: Table,
  { count, where, values }: RowGenerator,
  blocks: number,
) {
  const block = `(1 + (i::bigint - 1) * ${blocks} / ${count})`;
  const every: Readonly<Record<string, string>> = {
    ...values,
    block_number: block,
    tx_hash: hashSql(table.name),
    log_index: "0",
    valid_from: block,
  };
  const names = [...Object.keys(table.columns), "valid_from"];
  const cells = names.map((name) => {
    const cell = every[name];
    if (cell === undefined) throw new Error(`${table.name}.${name} has no value`);
    return table.columns[name]?.isHex ? `decode(substr(${cell}, 3), 'hex')` : cell;
  });
  logProgress(`${count} rows of ${table.name}`);
  await session.query(
    `insert into ${table.name} (${names.join(", ")}) select ${cells.join(", ")}
     from generate_series(1, ${count}) i where ${where ?? "true"}`,
  );
}

const CONTRACTS = Object.fromEntries(
  CONTRACT_NAMES.map((name, index) => [name, `0x${String(index + 1).padStart(40, "0")}`]),
);

async function makeChain(session: Session, { bids, blocks }: TableSizes): Promise<void> {
  logProgress("blocks and logs");
  const [topic = ""] = encodeEventTopics({ abi: intentBookAbi, eventName: "SolverBidSubmitted" });
  const word = (number: string) => `lpad(to_hex(${number}), 64, '0')`;
  const words = (cells: readonly string[]) => `decode(${cells.join(" || ")}, 'hex')`;
  const topics = [
    `'${String(topic).slice(2)}'`,
    word("b.intent_id::bigint"),
    word("b.chain_bid_id::bigint"),
    "lpad(encode(b.solver, 'hex'), 64, '0')",
  ];
  const data = ["amount_in", "amount_out", "fee", "valid_until"].map((name) => word(`b.${name}::bigint`));
  await session.query(
    `insert into blocks select n, ${digestSql("block", "n")}, ${BENCH_GENESIS} + n * ${BLOCK_SECONDS}, ${Math.ceil(bids / blocks)}
     from generate_series(1, ${blocks}) n`,
  );
  await session.query(
    `insert into logs (block_number, log_index, tx_index, tx_hash, address, topics, data)
     select b.block_number, row_number() over (partition by b.block_number order by b.intent_id, b.chain_bid_id) - 1, 0,
       b.tx_hash, decode('${CONTRACTS.IntentBook?.slice(2)}', 'hex'),
       ${words(topics)}, ${words([...data, "encode(b.execution_hash, 'hex')"])}
     from bids b`,
  );
  await session.query({
    text: "insert into deployment values (true, 31337, 1, $1)",
    values: [JSON.stringify(CONTRACTS)],
  });
  await session.query(
    `insert into checkpoint select true, number, hash, timestamp, number from blocks where number = ${blocks}`,
  );
}

/** Grouped by what an audit compares them with. */
async function countRollups(session: Session, block: number): Promise<void> {
  logProgress("rollups");
  for (const { table, recount } of tableAudits) {
    if (table.hasProvenance || !recount) continue;
    const names = Object.keys(table.columns);
    // A recount asks up to which block with its only parameter, a number of ours.
    // A counter that was never raised is zero, which a recount may leave out.
    const cells = names.map((name) => (table.key.includes(name) ? name : `coalesce(${name}, 0)`));
    await session.query(
      `insert into ${table.name} (${names.join(", ")}, valid_from) select ${cells.join(", ")}, ${block} from (${recount.sql.replaceAll("$1", String(block))}) counted`,
    );
  }
}
