// The audit command against a real chain and index: no difference in a correct index, each difference in a damaged one.
// Fast tests of the same rules: src/audit/table.test.ts.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AuditedIndex,
  databaseUrlOf,
  openAuditedIndex,
} from "../../../tests/support/index/audited-index.ts";
import {
  corruptibleColumns,
  findTable,
  pickRow,
  withCorruptRow,
} from "../../../tests/support/index/corrupt-rows.ts";
import {
  FAKE_ACCOUNT_KINDS,
  readSharedHistory,
  SHARED_HISTORY_MS_MAX,
} from "../../../tests/support/index/simulated-history.ts";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { casesOf } from "../../../tests/support/test-depth.ts";
import { countDifferences } from "../../audit/report.ts";
import { tableAudits } from "../../audit/tables/all-tables.ts";
import { tables } from "../../protocol/domains.ts";
import type { Table } from "../../schema/table.ts";
import { auditCommand } from "./audit.ts";

const FINALITY = 32;

let index: AuditedIndex;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  index = await openAuditedIndex(await readSharedHistory());
  const { rpcUrl, deployment, database } = index;
  folder = await mkdtemp(join(tmpdir(), "sextant-audit-"));
  await writeFile(join(folder, "deployment.json"), JSON.stringify(deployment));
  environment = {
    NETWORK: join(folder, "deployment.json"),
    RPC_URL: rpcUrl,
    DATABASE_URL: databaseUrlOf(database),
  };
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  await index?.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(options: Record<string, string>, more: Record<string, string> = {}) {
  let out = "";
  const stop = new AbortController().signal;
  const print = (text: string) => {
    out += text;
  };
  const code = await auditCommand({
    environment: { ...environment, ...more },
    options,
    log: silentLog,
    print,
    stop,
  });
  return { code, out };
}

describe("an audit of a correct index", () => {
  /** Each block is audited once for all tests. */
  const audits = new Map<number, ReturnType<AuditedIndex["audit"]>>();
  const auditAt = (block: number) => {
    const report = audits.get(block) ?? index.audit({ block });
    audits.set(block, report);
    return report;
  };

  it("finds no difference, at the head and at older blocks", async () => {
    const blocks = casesOf(4, 1, 2, 3).map((quarter) => Math.floor((index.head * quarter) / 4));
    for (const block of [index.deployment.startBlock, ...blocks, index.head - FINALITY, index.head - 1]) {
      const report = await auditAt(block);
      expect(report.results.flatMap(({ firstDifferences }) => firstDifferences)).toEqual([]);
      expect(countDifferences(report)).toBe(0);
      expect(report.block.number).toBe(block);
    }
  }, 60_000);

  it("compares rows of every table", async () => {
    const { results } = await auditAt(index.head);
    expect(results.map(({ table }) => table).sort()).toEqual(tables.map(({ name }) => name).sort());
    expect(results.filter(({ compared }) => compared === 0)).toEqual([]);
  });

  it("notes from which block on recent-only counters are available", async () => {
    const { results } = await index.audit({ block: index.head - FINALITY - 1 });
    const unavailable = results.filter(({ notes }) =>
      notes.includes(`stored only from block ${index.head - FINALITY}`),
    );
    const recent = tables.filter(({ history }) => history === "recent");
    expect(unavailable.map(({ table }) => table).sort()).toEqual(recent.map(({ name }) => name).sort());
  });

  it("compares an even sample on request, and notes it", async () => {
    const { results } = await index.audit({ sample: 3 });
    expect(results.flatMap(({ firstDifferences }) => firstDifferences)).toEqual([]);
    const sampled = results.find(({ table }) => table === "agents");
    expect(sampled?.compared).toBe(3);
    expect(sampled?.notes.join()).toMatch(/a sample of \d+ rows/);
    const totals = results.find(({ table }) => table === "commerce_totals");
    expect(totals?.notes).toEqual(["recounted"]);
  });
});

describe("a run of the command", () => {
  const lastRecord = async () => {
    const { rows } = await index.database.query<Record<string, string | null>>(
      "select * from audits where source = 'command' order by sequence desc limit 1",
    );
    return rows[0];
  };

  it("records an audit with what it compared and found", async () => {
    const block = index.head - 1;
    await run({ block: String(block), sample: "3" });
    const before = await lastRecord();
    expect(before).toMatchObject({ kind: "tables", block_number: String(block), first_difference: null });
    expect([Number(before?.checked) > 20, Number(before?.differences)]).toEqual([true, 0]);
    const agents = findTable("agents");
    const row = await pickRow(index.database, agents, "agent_id = 1");
    await withCorruptRow(index.database, agents, row, ["metadata_uri"], async () => {
      await run({ block: String(block), sample: "1000" });
    });
    const after = await lastRecord();
    expect(Number(after?.differences)).toBeGreaterThan(0);
    expect(after?.first_difference).toMatch(/^agents .*metadata_uri is /);
    expect(Number(after?.checked_total)).toBe(Number(before?.checked_total) + Number(after?.checked));
  }, 60_000);
});

describe("contracts that pretend to be accounts", () => {
  it("counts rows of contracts that pretend to be accounts as unverifiable, not wrong", async () => {
    const { results } = await index.audit({
      audits: tableAudits.filter(({ table }) => table.name === "session_keys"),
    });
    expect(results[0]?.differences).toBe(0);
    expect(results[0]?.notes).toContain(
      `${FAKE_ACCOUNT_KINDS.length} unverifiable: the account does not confirm it`,
    );
  });
});

describe("a node that cannot serve the block", () => {
  it("fails with a hint at an archive node if the state is pruned", async () => {
    const pruned = await startFaultyNode({
      upstream: index.rpcUrl,
      plan: (_number, calls) =>
        calls.some(({ method }) => method === "eth_call")
          ? {
              kind: "error",
              code: -32_000,
              message: "missing trie node 1f4a (path ) state 0x1f4a is not available",
            }
          : null,
    });
    const client = createTestRpc([pruned.url]);
    try {
      await expect(index.audit({ rpc: client.rpc, block: 20 })).rejects.toMatchObject({
        code: "BLOCK_MISSING",
        message: expect.stringMatching(/no longer has the state of block 20; .* archive node/),
      });
    } finally {
      client.rpc.close();
      await pruned.stop();
    }
  });

  it("fails if the node has another block than the index", async () => {
    await index.database.query(`update blocks set hash = '\\x00' where number = ${index.head}`);
    try {
      await expect(index.audit()).rejects.toMatchObject({
        code: "BLOCK_MISSING",
        message: expect.stringContaining(`another block ${index.head} than the one that was indexed`),
      });
    } finally {
      await index.database.query(
        `update blocks set hash = (select block_hash from checkpoint) where number = ${index.head}`,
      );
    }
  });
});

describe("sextant audit", () => {
  it("reports no difference and exits with 0, by default at the final block", async () => {
    const { code, out } = await run({});
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        `^Audit of local at block ${index.head - FINALITY} \\(0x[0-9a-f]{64}\\); indexed up to ${index.head}\\.`,
      ),
    );
    expect(out).toMatch(/^agents +\d+ +0 {2}getAgent$/m);
    expect(out).toMatch(/^fill_proofs +\d+ +0 {2}no getter: compared with its events$/m);
    expect(out).toMatch(/No difference\.\n$/);
  });

  it("lists the differences of every table and exits with 1", async () => {
    // A column that no recount reads, so that each difference shows once.
    const recounts = tableAudits.flatMap(({ recount }) => recount ?? []);
    const uncountedColumn = (table: Table): string => {
      const readers = recounts.filter(({ from }) => from.some(({ name }) => name === table.name));
      const isRead = (column: string) => readers.some(({ sql }) => new RegExp(`\\b${column}\\b`).test(sql));
      const column = corruptibleColumns(table).findLast((each) => !isRead(each));
      return column ?? corruptibleColumns(table).at(-1) ?? "";
    };
    const expected: string[] = [];
    const corruptAll = async (rest: readonly Table[], work: () => Promise<void>): Promise<void> => {
      const [table, ...others] = rest;
      if (!table) return work();
      const row = await pickRow(index.database, table);
      const damaged = uncountedColumn(table);
      await withCorruptRow(index.database, table, row, [damaged], async (key) => {
        expected.push(`${table.name} ${key} ${damaged}`);
        await corruptAll(others, work);
      });
    };
    await corruptAll(tables, async () => {
      const { results } = await index.audit();
      const found = results.flatMap(({ table, firstDifferences }) =>
        firstDifferences.map(({ key, column: name }) => `${table} ${key} ${name}`),
      );
      expect(found.sort()).toEqual(expected.sort());
      const { code, out } = await run({ block: String(index.head) });
      expect(code).toBe(1);
      expect(out).toContain(`${tables.length} differences, of which the first 20:`);
      expect(out).toMatch(/^table +key +column +in the index +should be +according to$/m);
      expect(out.split("according to\n")[1]?.trimEnd().split("\n")).toHaveLength(20);
    });
    expect((await run({ block: String(index.head) })).code).toBe(0);
  }, 60_000);

  it("prints the value of the index and that of the contract", async () => {
    const row = await pickRow(index.database, findTable("agents"), "agent_id = 1");
    await withCorruptRow(index.database, findTable("agents"), row, ["metadata_uri"], async () => {
      const { code, out } = await run({ block: String(index.head), sample: "1000" });
      expect(code).toBe(1);
      expect(out).toContain("\n1 difference:\n");
      expect(out).toMatch(/^agents +1 +metadata_uri +\S+! +\S+[^!] {2}AgentRegistry\.getAgent$/m);
    });
  });

  it.each([
    [{ block: "soon" }, "USAGE_INVALID", "--block must be a whole number of at least 0"],
    [{ block: "-1" }, "USAGE_INVALID", "--block must be a whole number of at least 0"],
    [{ block: "0" }, "USAGE_INVALID", "--block must be from 1, where the deployment begins"],
    [{ block: "1000000" }, "USAGE_INVALID", "which is the last block indexed; it is 1000000"],
    [{ sample: "0" }, "USAGE_INVALID", "--sample must be a whole number of at least 1"],
  ])("rejects %j", async (options, code, message) => {
    await expect(run(options as Record<string, string>)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("fails without a node and with an empty index", async () => {
    await expect(run({}, { RPC_URL: "" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const empty = await openTestDatabase();
    try {
      await expect(run({}, { DATABASE_URL: databaseUrlOf(empty.database) })).rejects.toMatchObject({
        code: "INDEX_EMPTY",
        message: expect.stringContaining("run `sextant indexer` first"),
      });
      expect((await empty.database.query("select * from deployment")).rows).toEqual([]);
    } finally {
      await empty.drop();
    }
  });

  it("stops on abort without a report", async () => {
    const stop = AbortSignal.abort("SIGTERM");
    await expect(index.audit({ stop })).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });
});
