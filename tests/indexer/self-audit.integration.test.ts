// The self-audit compares samples of the index with the chain and reports differences.
// Indexes built through lying and pruned nodes are in self-audit-nodes.integration.test.ts.
// Main covers a part: the choice of blocks and ranges in src/indexer/self-audit/*.test.ts, rows in src/audit/table.test.ts.

import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readIndexReadiness } from "../../src/api/serve.ts";
import { rereadLogs } from "../../src/indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { withSelfAudit } from "../../src/indexer/self-audit/run.ts";
import { createUnconfirmedRanges } from "../../src/indexer/self-audit/unconfirmed-ranges.ts";
import { createIndexerStatus } from "../../src/indexer/status.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import { readCheckpoint, writeIndexerStatus } from "../../src/store/index/checkpoint.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { corruptibleColumns, findTable, pickRow, withCorruptRow } from "../support/index/corrupt-rows.ts";
import { type FaultyNode, startFaultyNode } from "../support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../support/nodes/node-faults.ts";
import { startPrunedNode } from "../support/nodes/pruned-node.ts";
import { createTestRpc } from "../support/nodes/test-rpc.ts";
import { silentLog } from "../support/quiet-log.ts";
import { casesOf } from "../support/test-depth.ts";
import { type AuditStage, auditAllBlocks, auditOf, openAuditStage } from "./audit-stage.ts";

const MINUTE = 60_000;
// The rules here hold for any row and any block; self-audit-nodes.integration.test.ts has a longer history.
const STEPS = 50;

let stage: AuditStage;
beforeAll(async () => {
  stage = await openAuditStage(STEPS);
}, MINUTE);
afterAll(() => stage?.close());

describe("the self-audit", () => {
  it(
    "compares blocks and rows with the chain and finds no difference in a correct index",
    async () => {
      await stage.withIndex([stage.chain.rpcUrl], async (index) => {
        await auditAllBlocks(index, stage.indexedHead.number);
        await expect.poll(() => auditOf(index).rowsChecked, { timeout: MINUTE }).toBeGreaterThan(50);
        expect(auditOf(index).differences).toEqual([]);
        expect(index.status.readiness()).toMatchObject({
          ready: true,
          details: { audit: { differences: 0, last_checked_at: expect.any(Number) } },
        });
        const metrics = await index.status.registry.metrics();
        expect(metrics).toMatch(/sextant_indexer_audit_checked_total\{kind="blocks"\} \d+/);
        expect(metrics).toMatch(/sextant_indexer_audit_differences\{kind="rows"\} 0/);
      });
    },
    2 * MINUTE,
  );

  it(
    "shrinks the window while a node rejects its range, and grows it again afterwards",
    async () => {
      let isRejecting = false;
      const tooLarge = {
        kind: "error",
        code: -32_005,
        message: "query returned more than 10000 results",
      } as const;
      const node = await startFaultyNode({
        upstream: stage.chain.request,
        plan: (_, calls) =>
          isRejecting && calls.some(({ method }) => method === "eth_getLogs") ? tooLarge : null,
      });
      const spansSince = (first: number) =>
        node.requests
          .slice(first)
          .flat()
          .flatMap(({ method, params: [filter] }) => {
            const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
            return method === "eth_getLogs" && fromBlock ? [Number(toBlock) - Number(fromBlock) + 1] : [];
          });
      await stage.withIndex([node.url], async () => {
        isRejecting = true;
        const before = node.requests.length;
        await expect.poll(() => Math.min(...spansSince(before)), { timeout: MINUTE }).toBe(1);
        isRejecting = false;
        const after = node.requests.length;
        await expect.poll(() => Math.max(...spansSince(after)), { timeout: MINUTE / 4 }).toBeGreaterThan(30);
      });
      await node.stop();
    },
    2 * MINUTE,
  );

  it(
    "finds a missing log, reports its block, and clears it once it is stored",
    async () => {
      await stage.withIndex([stage.chain.rpcUrl], async (index) => {
        const { block, logIndex } = stage.finalLog;
        const values = [block, logIndex];
        await index.database.query("create table taken as table logs");
        await index.database.query({
          text: "delete from logs where block_number = $1 and log_index = $2",
          values,
        });
        await expect
          .poll(() => index.status.readiness(), { timeout: MINUTE })
          .toMatchObject({
            ready: false,
            reason: expect.stringContaining(
              `block ${block} (logs missing from the index: 1, not on the chain: 0)`,
            ),
          });
        expect(await index.status.registry.metrics()).toMatch(
          /sextant_indexer_audit_differences\{kind="blocks"\} 1/,
        );
        // The API processes report the same.
        await writeIndexerStatus(index.database, index.status.report());
        expect(await readIndexReadiness(index.database)).toMatchObject({
          ready: false,
          reason: expect.stringContaining(`sextant rebuild --reread ${block}`),
        });
        await index.database.query({
          text: "insert into logs select * from taken where block_number = $1 and log_index = $2",
          values,
        });
        // Count of blocks: a row that was compared while its log was missing is reported until the process ends.
        await expect
          .poll(() => index.status.registry.metrics(), { timeout: MINUTE })
          .toMatch(/sextant_indexer_audit_differences\{kind="blocks"\} 0/);
        expect(auditOf(index).differences.filter((difference) => difference.block !== null)).toEqual([]);
      });
    },
    2 * MINUTE,
  );

  it(
    "finds a row that differs from the contract",
    async () => {
      await stage.withIndex([stage.chain.rpcUrl], async (index) => {
        const table = findTable("agents");
        const row = await pickRow(index.database, table);
        const [column] = corruptibleColumns(table);
        if (!column) throw new Error("the table has no column to change");
        await withCorruptRow(index.database, table, row, [column], async () => {
          await expect
            .poll(() => index.status.readiness(), { timeout: MINUTE })
            .toMatchObject({
              ready: false,
              reason: expect.stringContaining("in agents is not what the contract says"),
            });
        });
      });
    },
    2 * MINUTE,
  );

  it(
    "does not believe one lying node against the index and an honest node",
    async () => {
      let lie: NodeFaultInjection | null = null;
      const liar: FaultyNode = await startFaultyNode({
        upstream: stage.chain.request,
        plan: () => lie,
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      await stage.withIndex([liar.url, stage.chain.rpcUrl], async (index) => {
        lie = { kind: "omit-log", ...stage.finalLog, receipts: true };
        await auditAllBlocks(index, stage.indexedHead.number);
        await auditAllBlocks(index, stage.indexedHead.number);
        expect(auditOf(index).differences).toEqual([]);
      });
      await liar.stop();
    },
    3 * MINUTE,
  );

  it(
    "remembers differing and unconfirmed blocks across a restart",
    async () => {
      await stage.withIndex([stage.chain.rpcUrl], async ({ database }) => {
        const difference = {
          block: 40,
          text: "block 40 (logs missing from the index: 1, not on the chain: 0)",
        };
        await writeIndexerStatus(database, {
          audit: { differences: [difference], unconfirmed: [{ from: 50, to: 60 }] },
        });
        const status = createIndexerStatus(silentLog, systemClock);
        const { rpc } = createTestRpc([stage.chain.rpcUrl]);
        const options = {
          rpc,
          database,
          deployment: stage.deployment,
          decoder: createLogDecoder(stage.deployment),
          logRangeMax: 1_000,
          unconfirmed: createUnconfirmedRanges(status.onUnconfirmedChange),
          reread: () => Promise.reject(new Error("there is nothing to repair")),
          auditMs: 60 * MINUTE,
          report: status,
          log: silentLog,
          signal: new AbortController().signal,
        };
        await withSelfAudit(options, async () => {
          await expect.poll(() => status.report().audit.differences).toEqual([difference]);
          expect(status.report().audit.unconfirmed).toEqual([{ from: 50, to: 60 }]);
        });
      });
    },
    MINUTE,
  );
});

it(
  "goes on indexing if a repair of unconfirmed history stores nothing, and tries again",
  async () => {
    const second = await startFaultyNode({ upstream: stage.chain.request, plan: () => null });
    await stage.withIndex([stage.chain.rpcUrl], async (index) => {
      const { database } = index;
      await index.stopIndexing();
      const { block } = stage.finalLog;
      await database.query({ text: "delete from logs where block_number = $1", values: [block] });
      const checkpoint = await readCheckpoint(database);
      if (checkpoint === null) throw new Error("nothing is indexed");
      const status = createIndexerStatus(silentLog, systemClock);
      const { rpc } = createTestRpc([stage.chain.rpcUrl, second.url]);
      const unconfirmed = createUnconfirmedRanges(status.onUnconfirmedChange);
      unconfirmed.add({ from: block, to: block });
      let repairs = 0;
      let starts = 0;
      const options = {
        ...{ rpc, database, unconfirmed, report: status, log: silentLog },
        deployment: stage.deployment,
        decoder: createLogDecoder(stage.deployment),
        logRangeMax: 1_000,
        reread: () => {
          repairs += 1;
          return Promise.reject(new Error("nodes disagree"));
        },
        auditMs: 20,
        signal: new AbortController().signal,
      };
      await withSelfAudit(options, async (report, signal) => {
        starts += 1;
        report.onSynced(checkpoint);
        await expect.poll(() => repairs, { timeout: MINUTE / 4 }).toBeGreaterThan(1);
        expect(signal.aborted).toBe(false);
      });
      expect(starts).toBe(1);
      expect(status.report().audit).toMatchObject({
        differences: [{ block }],
        unconfirmed: [{ from: block, to: block }],
      });
      rpc.close();
    });
    await second.stop();
  },
  MINUTE,
);

describe("the audit of rows", () => {
  const revert = () => {
    throw new JsonRpcError(3, "execution reverted", "0x");
  };

  it.each(
    casesOf(
      { shows: "an empty result", onDroppedState: (): unknown => "0x" },
      { shows: "a revert", onDroppedState: revert },
    ),
  )(
    "counts skipped samples where a node has no state at all, which it shows by $shows",
    async ({ onDroppedState }) => {
      let isGone = false;
      const node = await startPrunedNode({
        request: async (method, params) =>
          isGone && method === "eth_call" ? onDroppedState() : stage.chain.request(method, params),
        traces: true,
      });
      await stage.withIndex([node.url], async (index) => {
        isGone = true;
        await expect.poll(() => auditOf(index).notCompared, { timeout: MINUTE }).toBeGreaterThan(20);
        expect(index.status.readiness()).toMatchObject({
          ready: true,
          details: { audit: { differences: 0, not_compared: expect.any(Number) } },
        });
        const metrics = await index.status.registry.metrics();
        expect(metrics).toMatch(/sextant_indexer_audit_failures_total\{kind="rows"\} [1-9]/);
      });
      await node.stop();
    },
    2 * MINUTE,
  );
});

describe("reading final blocks again", () => {
  it(
    "stores nothing while only one of two nodes responds",
    async () => {
      const away = await startFaultyNode({
        upstream: stage.chain.request,
        plan: () => ({ kind: "status", status: 503 }),
      });
      await stage.withIndex([stage.chain.rpcUrl], async (index) => {
        const { database } = index;
        await index.stopIndexing();
        const { block } = stage.finalLog;
        const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 0 });
        if (!lock) throw new Error("the lock is held");
        const { rpc } = createTestRpc([stage.chain.rpcUrl, away.url]);
        const range = { from: block, to: block };
        const { deployment } = stage;
        const { signal } = new AbortController();
        await database.query({ text: "delete from logs where block_number = $1", values: [block] });
        await expect(
          rereadLogs(lock, { rpc, deployment, range, rangeMax: 50, signal }),
        ).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
        const { rows } = await database.query({
          text: "select 1 from logs where block_number = $1",
          values: [block],
        });
        expect(rows).toEqual([]);
        await lock.release();
      });
      await away.stop();
    },
    MINUTE,
  );

  it(
    "restores a log that is missing and removes one that is not on the chain",
    async () => {
      await stage.withIndex([stage.chain.rpcUrl], async (index) => {
        const { database } = index;
        await index.stopIndexing();
        const { block, logIndex } = stage.finalLog;
        await database.query("create table whole as table logs");
        await database.query({
          text: "delete from logs where block_number = $1 and log_index = $2",
          values: [block, logIndex],
        });
        await database.query({
          text: `insert into logs select block_number, 9999, tx_index, tx_hash, address, topics, data, details
            from logs where block_number > $1 order by block_number limit 1`,
          values: [block],
        });
        const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 0 });
        if (!lock) throw new Error("the lock is held");
        const { rpc } = createTestRpc([stage.chain.rpcUrl]);
        const { deployment } = stage;
        const signal = new AbortController().signal;
        const reread = (from: number, to: number) =>
          rereadLogs(lock, { rpc, deployment, range: { from, to }, rangeMax: 50, signal });
        const finalized = (await readCheckpoint(database))?.finalized ?? 0;
        await expect(reread(block, finalized + 1)).rejects.toMatchObject({ code: "USAGE_INVALID" });
        expect(await reread(block, finalized)).toBeGreaterThan(10);
        await lock.release();
        const differing = "((table logs except table whole) union all (table whole except table logs))";
        const { rows } = await database.query(`select * from ${differing} differing`);
        expect(rows).toEqual([]);
        const { rows: wrong } = await database.query(
          `select number from blocks where log_count <> (select count(*) from logs where block_number = number)`,
        );
        expect(wrong).toEqual([]);
      });
    },
    MINUTE,
  );
});
