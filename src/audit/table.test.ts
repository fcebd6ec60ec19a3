// The audit reports damage to an index exactly: table, row and column.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AuditedIndex, openAuditedIndex } from "../../tests/support/index/audited-index.ts";
import {
  corruptibleColumns,
  findTable,
  pickRow,
  withCorruptRow,
} from "../../tests/support/index/corrupt-rows.ts";
import { readSharedHistory, SHARED_HISTORY_MS_MAX } from "../../tests/support/index/simulated-history.ts";
import { isFullDepth } from "../../tests/support/test-depth.ts";
import { tables } from "../protocol/domains.ts";
import type { Database } from "../store/postgres/database.ts";
import { tableAudits } from "./tables/all-tables.ts";
import type { TableAudit } from "./tables/define-audit.ts";

const PROVENANCE = ["tx_hash", "log_index", "block_number"] as const;

let index: AuditedIndex;
let database: Database;
let auditTable: AuditedIndex["auditTable"];

beforeAll(async () => {
  index = await openAuditedIndex(await readSharedHistory());
  ({ database, auditTable } = index);
}, SHARED_HISTORY_MS_MAX);

afterAll(() => index?.close());

describe("rows that are wrong", () => {
  const policyTypes = [
    "SPEND_LIMIT",
    "TARGET_ALLOWLIST",
    "FUNCTION_ALLOWLIST",
    "FUNCTION_ALLOWLIST_MODE",
    "PAYMENT_POLICY",
    "GUARDIAN",
    "ACCOUNT_FROZEN",
  ];
  const cases = tableAudits.flatMap((chosen): [string, TableAudit, string][] =>
    chosen.table.name === "policies"
      ? policyTypes.map((type) => [`policies ${type}`, chosen, `policy_type = '${type}'`])
      : [[chosen.table.name, chosen, "true"]],
  );

  // All tables are audited by the same code; each of them at full depth.
  const checked = isFullDepth() ? cases : cases.filter((_, index) => index % 4 === 0);
  it.each(checked)("reports damage in every column of %s", async (_name, chosen, where) => {
    const columns = corruptibleColumns(chosen.table);
    const row = await pickRow(database, chosen.table, where);
    await withCorruptRow(database, chosen.table, row, columns, async (key) => {
      const expected = columns.map((column) => `${key} ${column}`).sort();
      expect((await auditTable(chosen.table.name)).sort()).toEqual(expected);
    });
    expect(await auditTable(chosen.table.name)).toEqual([]);
  });

  it.each(PROVENANCE)("reports a wrong %s in any table", async (column) => {
    // One comparison serves all tables: a part of them for each column, and all at full depth.
    const offset = PROVENANCE.indexOf(column);
    const chosen = tables
      .filter(({ hasProvenance: provenance }) => provenance)
      .filter((_, at) => isFullDepth() || at % PROVENANCE.length === offset);
    expect(chosen.length).toBeGreaterThan(3);
    for (const table of chosen) {
      await withCorruptRow(database, table, await pickRow(database, table), [column], async (key) => {
        // Another position may hold another event of the same kind: then the columns differ.
        const differences = await auditTable(table.name);
        expect(differences.filter((each) => each.startsWith(`${key} `))).not.toEqual([]);
      });
    }
  });
});

describe("rows that are not there, or should not be", () => {
  /** The audit reads on another connection, so that rows are really taken out and put back. */
  async function without<T>(table: string, where: string, work: () => Promise<T>): Promise<T> {
    await database.query(`create table kept_${table} as select * from ${table} where ${where}`);
    await database.query(`delete from ${table} where ${where}`);
    try {
      return await work();
    } finally {
      await database.query(`insert into ${table} select * from kept_${table}`);
      await database.query(`drop table kept_${table}`);
    }
  }

  it("reports missing rows that the stored events imply", async () => {
    for (const { table, creationEvents: births } of tableAudits) {
      if (births.length === 0) continue;
      const row = await pickRow(database, table);
      const match = table.key
        .map((name) => {
          const isHex = table.columns[name]?.isHex === true;
          return `${isHex ? "hex_text" : ""}(${name})::text = '${String(row[name])}'`;
        })
        .join(" and ");
      expect(await without(table.name, match, () => auditTable(table.name))).toContain("(all) (rows)");
    }
  });

  it("reports a gap in the ids, and an id that only the contract knows", async () => {
    const { rows } = await database.query<{ last: string }>("select max(agent_id)::text as last from agents");
    const last = BigInt(rows[0]?.last ?? 0);
    expect(await without("agents", "agent_id = 2", () => auditTable("agents"))).toContain(
      `1 to ${last} (rows)`,
    );
    // As if its event had never been seen: neither rows nor logs know of it, but the contract does.
    const place = `(block_number, log_index) in (select block_number, log_index from agents where agent_id = ${last})`;
    const unseen = await without("logs", place, () =>
      without("agents", `agent_id = ${last}`, () => auditTable("agents")),
    );
    expect(unseen).toEqual([`${last} (row)`]);
  });

  it("reports a bid that only the contract knows", async () => {
    const [row] = (
      await database.query<Record<string, string>>(
        "select * from bids order by intent_id, chain_bid_id desc limit 1",
      )
    ).rows;
    const where = `intent_id = ${row?.intent_id} and chain_bid_id = ${row?.chain_bid_id}`;
    expect(await without("bids", where, () => auditTable("bids"))).toEqual([
      "(all) (rows)",
      `${row?.intent_id}|${row?.chain_bid_id} (row)`,
    ]);
  });

  it("reports a row that the contract does not know", async () => {
    await database.query(
      "insert into agents select 999999, owner, metadata_uri, pubkey, capabilities_hash, revoked, block_number, tx_hash, log_index, valid_from, valid_to from agents where agent_id = 1 and valid_to is null",
    );
    try {
      expect(await auditTable("agents")).toEqual(
        expect.arrayContaining(["999999 (row)", "999999 agent_id", "(all) (rows)", "1 to 999999 (rows)"]),
      );
    } finally {
      await database.query("delete from agents where agent_id = 999999");
    }
  });
});

describe("damage that goes further", () => {
  const restore = async (table: string, column: string, value: unknown, where: string) => {
    await database.query({
      text: `update ${table} set ${column} = $1 where ${where}`,
      values: [String(value)],
    });
  };

  it("reports keys that no contract accepts and positions that no chain has", async () => {
    const tooLarge = (2n ** 256n).toString();
    await restore("solvers", "solver_id", tooLarge, "solver_id = 1");
    await restore("quotes", "block_number", 2n ** 63n - 1n, "valid_to is null");
    try {
      expect(await auditTable("solvers")).toContain(`${tooLarge} (row)`);
      const { results } = await index.audit({
        audits: tableAudits.filter(({ table }) => table.name === "quotes"),
      });
      expect(results[0]?.differences).toBeGreaterThanOrEqual(results[0]?.compared ?? 0);
    } finally {
      await restore("solvers", "solver_id", 1, `solver_id = ${tooLarge}`);
      await database.query(
        "update quotes q set block_number = l.block_number from logs l where l.tx_hash = q.tx_hash and l.log_index = q.log_index",
      );
    }
    expect([...(await auditTable("solvers")), ...(await auditTable("quotes"))]).toEqual([]);
  });

  it("reports the row whose stored log is damaged", async () => {
    const row = await pickRow(database, findTable("merchants"));
    const place = `block_number = ${row.block_number} and log_index = ${row.log_index}`;
    const { rows } = await database.query<{ data: string }>(
      `select encode(data, 'hex') as data from logs where ${place}`,
    );
    await database.query(`update logs set data = '\\x' where ${place}`);
    try {
      expect(await auditTable("merchants")).toEqual([`${row.merchant_id} log_index`]);
    } finally {
      await database.query({
        text: `update logs set data = decode($1, 'hex') where ${place}`,
        values: [rows[0]?.data ?? null],
      });
    }
  });
});

describe("versions that contradict each other", () => {
  it.each([
    ["begins too late", `valid_from = ${1_000_000}`, "valid_to is null"],
    ["ends for good", "valid_to = valid_from + 1", "valid_to is null"],
    ["ends before it begins", "valid_to = valid_from", "valid_to is not null"],
    ["leaves a gap", "valid_to = valid_to - 1", "valid_to is not null and valid_to - valid_from > 1"],
    ["overlaps", "valid_to = valid_to + 1", "valid_to is not null"],
    ["goes on", "valid_to = null", "valid_to is not null"],
  ])("reports a version that %s", async (_name, damage, where) => {
    // Neither of two current versions could be written past the index that forbids it.
    await database.query(`drop index agents_current`);
    const { rows } = await database.query<{ agent_id: string; valid_from: string; valid_to: string | null }>(
      `select agent_id, valid_from, valid_to from agents where ${where} order by agent_id limit 1`,
    );
    const [version] = rows;
    if (!version) throw new Error(`no version where ${where}`);
    const place = `agent_id = ${version.agent_id} and valid_from`;
    await database.query(`update agents set ${damage} where ${place} = ${version.valid_from}`);
    try {
      expect(await auditTable("agents", { block: index.deployment.startBlock })).toContain(
        `${version.agent_id} (version)`,
      );
    } finally {
      const restore = `valid_from = ${version.valid_from}, valid_to = ${version.valid_to ?? "null"}`;
      const moved = damage.startsWith("valid_from") ? "1000000" : version.valid_from;
      await database.query(`update agents set ${restore} where ${place} = ${moved}`);
      await database.query("create unique index agents_current on agents (agent_id) where valid_to is null");
    }
    expect(await auditTable("agents")).toEqual([]);
  });
});
