// The audit against a real chain, a real index and a real economy: silent when all is well, exact when it is not.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { playEconomy } from "../../contracts/scenario/economy.ts";
import { openStage, type Stage } from "../../contracts/scenario/stage.ts";
import { plainColumns, someRow, whileCorrupt } from "../../tests/support/corrupt-rows.ts";
import { startFaultyNode } from "../../tests/support/faulty-node.ts";
import { PRETENDERS, pretenderCode } from "../../tests/support/pretender.ts";
import {
  deploymentOf,
  openTestDatabase,
  startTestIndex,
  type TestIndex,
} from "../../tests/support/test-index.ts";
import { createTestRpc } from "../../tests/support/test-rpc.ts";
import type { Rpc } from "../chain/rpc/call.ts";
import { audits } from "../protocol/audits/audits.ts";
import type { TableAudit } from "../protocol/audits/table-audit.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { agents } from "../protocol/domains/agents.ts";
import { tables } from "../protocol/domains.ts";
import type { Table } from "../schema/table.ts";
import type { Database } from "../store/database.ts";
import { audit } from "./audit.ts";
import { differencesOf } from "./audit-report.ts";
import { type AuditOptions, runAudit } from "./run-audit.ts";

const STEPS = 400;
const FINALITY = 32;
const quiet = createTestRpc(["http://127.0.0.1:1"]).log;

let stage: Stage;
let deployment: Deployment;
let index: TestIndex;
let database: Database;
let rpc: Rpc;
let head: number;
let folder: string;
let environment: Record<string, string>;

const pretenders = Object.keys(PRETENDERS) as (keyof typeof PRETENDERS)[];

beforeAll(async () => {
  stage = await openStage();
  const { chain, world } = stage;
  deployment = deploymentOf(stage.deployment);
  for (const [place, behaviour] of pretenders.entries()) {
    const data = pretenderCode(behaviour, world.actors.agent.address, 2_000_000_000 + place);
    await world.actors.agent.send({ data });
  }
  await playEconomy({ world, seed: 11, steps: STEPS });
  index = await startTestIndex({ urls: [chain.rpcUrl], deployment });
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  head = Number(block.number);
  await index.reach({ number: head, hash: String(block.hash) });
  await index.stopIndexing();
  database = index.database;
  rpc = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 20_000 } }).rpc;
  folder = await mkdtemp(join(tmpdir(), "sextant-audit-"));
  await writeFile(join(folder, "deployment.json"), JSON.stringify(deployment));
  environment = {
    NETWORK: join(folder, "deployment.json"),
    RPC_URL: chain.rpcUrl,
    DATABASE_URL: urlOf(database),
  };
}, 120_000);

afterAll(async () => {
  rpc?.close();
  await index?.close();
  await stage?.chain.stop();
  await rm(folder, { recursive: true, force: true });
});

function urlOf({ place }: Database): string {
  const server = inject("postgres");
  if (server.kind === "embedded") {
    return `postgres://${server.user}@localhost/${place.database}?host=${encodeURIComponent(server.host)}`;
  }
  const url = new URL(server.url);
  url.pathname = `/${place.database}`;
  return url.href;
}

function auditAt(options: Partial<AuditOptions> = {}): ReturnType<typeof runAudit> {
  const stop = new AbortController().signal;
  return runAudit({ database, deployment, rpc, block: head, sample: null, log: quiet, stop, ...options });
}

/** What an audit of one table tells, shortened to what is wrong where. */
async function told(chosen: TableAudit | string, options: Partial<AuditOptions> = {}): Promise<string[]> {
  const one = typeof chosen === "string" ? audits.filter(({ table }) => table.name === chosen) : [chosen];
  const { results } = await auditAt({ audits: one, ...options });
  const [result] = results;
  if (!result) throw new Error("no such table");
  expect(result.differences).toBe(result.first.length);
  return result.first.map(({ key, column }) => `${key} ${column}`);
}

async function run(options: Record<string, string>, more: Record<string, string> = {}) {
  let out = "";
  const stop = new AbortController().signal;
  const say = (text: string) => {
    out += text;
  };
  const code = await audit.run({ environment: { ...environment, ...more }, options, log: quiet, say, stop });
  return { code, out };
}

const tableOf = (name: string): Table => {
  const found = tables.find((table) => table.name === name);
  if (!found) throw new Error(`there is no table ${name}`);
  return found;
};

describe("an index that is right", () => {
  it("differs nowhere, at the head and at older blocks", async () => {
    const blocks = [1, 2, 3, 4].map((quarter) => Math.floor((head * quarter) / 4));
    for (const block of [deployment.startBlock, ...blocks, head - FINALITY, head - 1]) {
      const report = await auditAt({ block });
      expect(report.results.flatMap(({ first }) => first)).toEqual([]);
      expect(differencesOf(report)).toBe(0);
      expect(report.block.number).toBe(block);
    }
  }, 60_000);

  it("has rows of every table compared", async () => {
    const { results } = await auditAt();
    expect(results.map(({ table }) => table).sort()).toEqual(tables.map(({ name }) => name).sort());
    expect(results.filter(({ compared }) => compared === 0)).toEqual([]);
  });

  it("tells from which block on counters of the recent past can be read", async () => {
    const { results } = await auditAt({ block: head - FINALITY - 1 });
    const untold = results.filter(({ notes }) => notes.includes(`kept only from block ${head - FINALITY}`));
    const recent = tables.filter(({ history }) => history === "recent");
    expect(untold.map(({ table }) => table).sort()).toEqual(recent.map(({ name }) => name).sort());
  });

  it("can be sampled: evenly, and said so", async () => {
    const { results } = await auditAt({ sample: 3 });
    expect(results.flatMap(({ first }) => first)).toEqual([]);
    const sampled = results.find(({ table }) => table === "agents");
    expect(sampled?.compared).toBe(3);
    expect(sampled?.notes.join()).toMatch(/a sample of \d+ rows/);
    const totals = results.find(({ table }) => table === "commerce_totals");
    expect(totals?.notes).toEqual(["recounted"]);
  });
});

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
  const cases = audits.flatMap((chosen): [string, TableAudit, string][] =>
    chosen.table.name === "policies"
      ? policyTypes.map((type) => [`policies ${type}`, chosen, `policy_type = '${type}'`])
      : [[chosen.table.name, chosen, "true"]],
  );

  it.each(cases)("every column of %s is missed", async (_name, chosen, where) => {
    const columns = plainColumns(chosen.table);
    const row = await someRow(database, chosen.table, where);
    await whileCorrupt(database, chosen.table, row, columns, async (key) => {
      const expected = columns.map((column) => `${key} ${column}`).sort();
      expect((await told(chosen)).sort()).toEqual(expected);
    });
    expect(await told(chosen)).toEqual([]);
  });

  it.each(["tx_hash", "log_index", "block_number"])("the provenance in %s is missed", async (column) => {
    for (const table of tables.filter(({ provenance }) => provenance)) {
      await whileCorrupt(database, table, await someRow(database, table), [column], async (key) => {
        const name = column === "block_number" ? "log_index" : column;
        expect(await told(table.name)).toContain(`${key} ${name}`);
      });
    }
  });
});

describe("rows that are not there, or should not be", () => {
  /** Undone by a savepoint would be invisible to the audit, so that the row is put back by hand. */
  async function without<T>(table: string, where: string, work: () => Promise<T>): Promise<T> {
    await database.query(`create table kept as select * from ${table} where ${where}`);
    await database.query(`delete from ${table} where ${where}`);
    try {
      return await work();
    } finally {
      await database.query(`insert into ${table} select * from kept`);
      await database.query("drop table kept");
    }
  }

  it("tells of rows that the stored events speak of", async () => {
    for (const { table, births } of audits) {
      if (births.length === 0) continue;
      const row = await someRow(database, table);
      const match = table.key.map((name) => `${name}::text = '${String(row[name])}'`).join(" and ");
      expect(await without(table.name, match, () => told(table.name))).toContain("(all) (rows)");
    }
  });

  it("tells of an id that is left out, and of one that only the contract knows", async () => {
    const { rows } = await database.query<{ last: string }>("select max(agent_id)::text as last from agents");
    const last = BigInt(rows[0]?.last ?? 0);
    expect(await without("agents", "agent_id = 2", () => told("agents"))).toContain(`1 to ${last} (rows)`);
    // As if its event had never been seen: neither rows nor logs know of it, but the contract does.
    const provenance = `(select block_number from agents where agent_id = ${last})`;
    const unseen = await without(
      "logs",
      `block_number = ${provenance} and log_index = (select log_index from agents where agent_id = ${last} limit 1)`,
      () => without2(last),
    );
    expect(unseen).toEqual([`${last} (row)`]);
  });

  // `kept` is taken by the logs.
  async function without2(agentId: bigint): Promise<string[]> {
    await database.query(`create table kept_agents as select * from agents where agent_id = ${agentId}`);
    await database.query(`delete from agents where agent_id = ${agentId}`);
    try {
      return await told("agents");
    } finally {
      await database.query("insert into agents select * from kept_agents");
      await database.query("drop table kept_agents");
    }
  }

  it("tells of a bid that only the contract knows", async () => {
    const [row] = (
      await database.query<Record<string, string>>(
        "select * from bids order by intent_id, chain_bid_id desc limit 1",
      )
    ).rows;
    const where = `intent_id = ${row?.intent_id} and chain_bid_id = ${row?.chain_bid_id}`;
    expect(await without("bids", where, () => told("bids"))).toEqual([
      "(all) (rows)",
      `${row?.intent_id}|${row?.chain_bid_id} (row)`,
    ]);
  });

  it("tells of a row that the contract does not know", async () => {
    await database.query(
      "insert into agents select 999999, owner, metadata_uri, pubkey, capabilities_hash, revoked, block_number, tx_hash, log_index, valid_from, valid_to from agents where agent_id = 1 and valid_to is null",
    );
    try {
      expect(await told("agents")).toEqual(
        expect.arrayContaining(["999999 (row)", "999999 agent_id", "(all) (rows)", "1 to 999999 (rows)"]),
      );
    } finally {
      await database.query("delete from agents where agent_id = 999999");
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
  ])("a version that %s is told of", async (_name, damage, where) => {
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
      expect(await told("agents", { block: deployment.startBlock })).toContain(
        `${version.agent_id} (version)`,
      );
    } finally {
      const restore = `valid_from = ${version.valid_from}, valid_to = ${version.valid_to ?? "null"}`;
      const moved = damage.startsWith("valid_from") ? "1000000" : version.valid_from;
      await database.query(`update agents set ${restore} where ${place} = ${moved}`);
      await database.query("create unique index agents_current on agents (agent_id) where valid_to is null");
    }
    expect(await told("agents")).toEqual([]);
  });
});

describe("contracts that only pretend to be accounts", () => {
  it("make rows unverifiable, not wrong", async () => {
    const { results } = await auditAt({
      audits: audits.filter(({ table }) => table.name === "session_keys"),
    });
    expect(results[0]?.differences).toBe(0);
    expect(results[0]?.notes).toContain(`${pretenders.length} unverifiable: the account does not confirm it`);
  });
});

describe("a node that can not answer for the block", () => {
  it("is told to be an archive node where it has no old state", async () => {
    const pruned = await startFaultyNode({
      upstream: stage.chain.rpcUrl,
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
      await expect(auditAt({ rpc: client.rpc, block: 20 })).rejects.toMatchObject({
        code: "BLOCK_MISSING",
        message: expect.stringMatching(/does not have the state of block 20 .* archive node/),
      });
    } finally {
      client.rpc.close();
      await pruned.stop();
    }
  });

  it("is refused where it has another block than the one indexed", async () => {
    await database.query(`update blocks set hash = '\\x00' where number = ${head}`);
    try {
      await expect(auditAt()).rejects.toMatchObject({
        code: "BLOCK_MISSING",
        message: expect.stringContaining(`another block ${head} than the one that was indexed`),
      });
    } finally {
      await database.query(
        `update blocks set hash = (select block_hash from checkpoint) where number = ${head}`,
      );
    }
  });
});

describe("the command", () => {
  it("says that there is no difference and ends with 0, by default at the final block", async () => {
    const { code, out } = await run({});
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        `^Audit of local at block ${head - FINALITY} \\(0x[0-9a-f]{64}\\); indexed up to ${head}\\.`,
      ),
    );
    expect(out).toMatch(/^agents +\d+ +0 {2}getAgent$/m);
    expect(out).toMatch(/^fill_proofs +\d+ +0 {2}no getter: compared with its events$/m);
    expect(out).toMatch(/No difference\.\n$/);
  });

  it("names the differences of every table and ends with 1", async () => {
    // Columns that no counter is made from, so that each difference shows once.
    const column: Record<string, string> = {
      intents: "deadline",
      bids: "fee",
      fills: "amount_in",
      attestations: "data_hash",
      merchants: "metadata_uri",
      services: "metadata_uri",
      facilitators: "metadata_uri",
      quotes: "terms_hash",
      receipts: "result_hash",
      disputes: "reason_hash",
      trust_signals: "signal_hash",
    };
    const expected: string[] = [];
    const corruptAll = async (rest: readonly Table[], work: () => Promise<void>): Promise<void> => {
      const [table, ...others] = rest;
      if (!table) return work();
      const row = await someRow(database, table);
      const damaged = column[table.name] ?? plainColumns(table).at(-1) ?? "";
      await whileCorrupt(database, table, row, [damaged], async (key) => {
        expected.push(`${table.name} ${key} ${damaged}`);
        await corruptAll(others, work);
      });
    };
    await corruptAll(tables, async () => {
      const { results } = await auditAt();
      const found = results.flatMap(({ table, first }) =>
        first.map(({ key, column: name }) => `${table} ${key} ${name}`),
      );
      expect(found.sort()).toEqual(expected.sort());
      const { code, out } = await run({ block: String(head) });
      expect(code).toBe(1);
      expect(out).toContain(`${tables.length} differences, of which the first 20:`);
      expect(out).toMatch(/^table +key +column +in the index +should be +according to$/m);
      expect(out.split("according to\n")[1]?.trimEnd().split("\n")).toHaveLength(20);
    });
    expect((await run({ block: String(head) })).code).toBe(0);
  }, 60_000);

  it("shows what the index has and what the contract says", async () => {
    const row = await someRow(database, agents as unknown as Table, "agent_id = 1");
    await whileCorrupt(database, tableOf("agents"), row, ["metadata_uri"], async () => {
      const { code, out } = await run({ block: String(head), sample: "1000" });
      expect(code).toBe(1);
      expect(out).toContain("\n1 difference:\n");
      expect(out).toMatch(/^agents +1 +metadata_uri +\S+! +\S+[^!] {2}AgentRegistry\.getAgent$/m);
    });
  });

  it.each([
    [{ block: "soon" }, "USAGE_INVALID", "--block must be a whole number from 0"],
    [{ block: "-1" }, "USAGE_INVALID", "--block must be a whole number from 0"],
    [{ block: "0" }, "USAGE_INVALID", "--block must be from 1, where the deployment begins"],
    [{ block: "1000000" }, "USAGE_INVALID", "which is the last block indexed; it is 1000000"],
    [{ sample: "0" }, "USAGE_INVALID", "--sample must be a whole number from 1"],
  ])("refuses %j", async (options, code, message) => {
    await expect(run(options as Record<string, string>)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("refuses to begin without a node, and where nothing was indexed", async () => {
    await expect(run({}, { RPC_URL: "" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const empty = await openTestDatabase();
    try {
      await expect(run({}, { DATABASE_URL: urlOf(empty.database) })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringContaining("run `sextant indexer` first"),
      });
      expect((await empty.database.query("select * from deployment")).rows).toEqual([]);
    } finally {
      await empty.drop();
    }
  });

  it("ends when it is told to, without a verdict", async () => {
    const stop = AbortSignal.abort("SIGTERM");
    await expect(auditAt({ stop })).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });
});
