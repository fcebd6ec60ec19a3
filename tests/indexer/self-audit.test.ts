// The self-audit compares samples of the index with the chain and reports differences.

import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readIndexReadiness } from "../../src/api/serve.ts";
import { localChain } from "../../src/chain/chains/local.ts";
import type { RpcLimits } from "../../src/chain/rpc/types.ts";
import { rereadLogs } from "../../src/indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { withSelfAudit } from "../../src/indexer/self-audit/run.ts";
import { createUnconfirmedRanges } from "../../src/indexer/self-audit/unconfirmed-ranges.ts";
import { createIndexerStatus } from "../../src/indexer/status.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import type { ChainLog } from "../../src/schema/chain-log.ts";
import { readCheckpoint, writeIndexerStatus } from "../../src/store/index/checkpoint.ts";
import { readStoredLogs } from "../../src/store/index/raw-logs.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import type { TestDatabase } from "../support/database/test-database.ts";
import { corruptibleColumns, findTable, pickRow, withCorruptRow } from "../support/index/corrupt-rows.ts";
import { startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { type FaultyNode, startFaultyNode } from "../support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../support/nodes/node-faults.ts";
import { startPrunedNode } from "../support/nodes/pruned-node.ts";
import { createTestRpc } from "../support/nodes/test-rpc.ts";
import { silentLog } from "../support/quiet-log.ts";
import { type LogPosition, pickFinalLog } from "./clean-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
// The tests wait for findings, not for time; a short interval makes them fast.
const AUDIT_MS = 10;

let stage: IndexerStage;
let head: { readonly number: number; readonly hash: string };
/** An index of the whole history, which most tests continue a copy of. */
let indexed: TestDatabase;
let finalLog: LogPosition;
let finalLogs: readonly ChainLog[];

beforeAll(async () => {
  stage = await openIndexerStage(81, { reorgDepthMax: 0 });
  await stage.runSteps(120);
  head = await stage.head();
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  await index.waitUntilIndexed(head);
  finalLog = await pickFinalLog(index);
  finalLogs = await readFinalLogs(index);
  indexed = await index.keepAsTemplate();
}, MINUTE);
afterAll(async () => {
  await indexed?.drop();
  await stage?.chain.stop();
});

async function readFinalLogs({ database }: TestIndex): Promise<ChainLog[]> {
  const toBlock = (await readCheckpoint(database))?.finalized ?? 0;
  const stored = await readStoredLogs(database, { afterBlock: 0, toBlock, logsMax: 10_000 });
  return stored.map(({ log }) => log);
}

type IndexOptions = {
  /** Reads all history from the nodes instead of continuing a copy of the index. */
  readonly fromStart?: boolean;
  readonly rpcLimits?: Partial<RpcLimits>;
};

async function withIndex(
  urls: readonly string[],
  work: (index: TestIndex) => Promise<void>,
  { fromStart = false, rpcLimits = {} }: IndexOptions = {},
): Promise<void> {
  const index = await startTestIndex({
    urls,
    deployment: stage.deployment,
    auditMs: AUDIT_MS,
    rpcLimits,
    ...(fromStart ? {} : { template: indexed.name }),
  });
  try {
    await index.waitUntilIndexed(head);
    await work(index);
  } finally {
    await index.close();
  }
}

const audited = (index: TestIndex) => index.status.report().audit;

/** Every final block was compared again. */
async function onePass(index: TestIndex): Promise<void> {
  const before = audited(index).blocksChecked;
  await expect
    .poll(() => audited(index).blocksChecked - before, { timeout: MINUTE })
    .toBeGreaterThan(2 * head.number);
}

const isAgentUpdate = (log: ChainLog) =>
  createLogDecoder(stage.deployment).decode(log, 0n)?.name === "AgentUpdated";

/** The last update that is alone in its block and final for every node. */
function findLonelyUpdate(): ChainLog {
  const update = finalLogs.findLast(
    (log) =>
      log.blockNumber < head.number - localChain.finalityDepth &&
      isAgentUpdate(log) &&
      finalLogs.filter(({ blockNumber }) => blockNumber === log.blockNumber).length === 1,
  );
  if (!update) throw new Error("no agent was updated alone in a block");
  return update;
}

describe("the self-audit", () => {
  it(
    "compares blocks and rows with the chain and finds no difference in a correct index",
    async () => {
      await withIndex([stage.chain.rpcUrl], async (index) => {
        await onePass(index);
        await expect.poll(() => audited(index).rowsChecked, { timeout: MINUTE }).toBeGreaterThan(50);
        expect(audited(index).differences).toEqual([]);
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
        upstream: stage.chain.rpcUrl,
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
      await withIndex([node.url], async () => {
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
      await withIndex([stage.chain.rpcUrl], async (index) => {
        const { block, logIndex } = finalLog;
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
        await expect.poll(() => index.status.readiness().ready, { timeout: MINUTE }).toBe(true);
      });
    },
    2 * MINUTE,
  );

  it(
    "finds a row that differs from the contract",
    async () => {
      await withIndex([stage.chain.rpcUrl], async (index) => {
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
    "finds a log that the only node always omits where the contract shows it",
    async () => {
      const update = finalLogs.findLast(isAgentUpdate);
      if (!update) throw new Error("no agent was updated");
      const { blockNumber: block, logIndex } = update;
      const liar = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => ({ kind: "omit-log", block, logIndex, receipts: true }),
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      const work = async (index: TestIndex) => {
        await expect
          .poll(() => index.status.readiness(), { timeout: MINUTE })
          .toMatchObject({
            ready: false,
            reason: expect.stringContaining("in agents is not what the contract says"),
          });
      };
      await withIndex([liar.url], work, { fromStart: true });
      await liar.stop();
    },
    2 * MINUTE,
  );

  it(
    "does not believe one lying node against the index and an honest node",
    async () => {
      let lie: NodeFaultInjection | null = null;
      const liar: FaultyNode = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => lie,
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      await withIndex([liar.url, stage.chain.rpcUrl], async (index) => {
        lie = { kind: "omit-log", ...finalLog, receipts: true };
        await onePass(index);
        await onePass(index);
        expect(audited(index).differences).toEqual([]);
      });
      await liar.stop();
    },
    3 * MINUTE,
  );

  it(
    "first compares what was read while the second node was down, and finds what the first one omitted",
    async () => {
      const { blockNumber: block, logIndex } = findLonelyUpdate();
      const liar = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => ({ kind: "omit-log", block, logIndex }),
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      let isAway = true;
      const second = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => (isAway ? { kind: "status", status: 503 } : null),
      });
      await withIndex(
        [liar.url, second.url],
        async (index) => {
          const isUnconfirmed = () =>
            audited(index).unconfirmed.some(({ from, to }) => from <= block && block <= to);
          expect(isUnconfirmed()).toBe(true);
          await expect
            .poll(() => index.status.readiness(), { timeout: MINUTE })
            .toMatchObject({ ready: true, details: { audit: { unconfirmed_ranges: 1 } } });
          expect(await index.status.registry.metrics()).toMatch(/sextant_indexer_unconfirmed_blocks [1-9]/);
          isAway = false;
          await expect
            .poll(() => index.status.readiness(), { timeout: MINUTE })
            .toMatchObject({
              ready: false,
              reason: expect.stringContaining(
                `block ${block} (logs missing from the index: 1, not on the chain: 0)`,
              ),
            });
          await expect.poll(() => audited(index).unconfirmed, { timeout: MINUTE }).toEqual([]);
          expect(await index.status.registry.metrics()).toMatch(/sextant_indexer_unconfirmed_blocks 0/);
        },
        { fromStart: true, rpcLimits: { pauseMsBase: 2, pauseMsMax: 20 } },
      );
      await Promise.all([liar.stop(), second.stop()]);
    },
    3 * MINUTE,
  );

  it(
    "remembers differing and unconfirmed blocks across a restart",
    async () => {
      await withIndex([stage.chain.rpcUrl], async ({ database }) => {
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

describe("the audit of rows", () => {
  const DROPPED = {
    "an error": undefined,
    "an empty result": () => "0x",
    "a revert": () => {
      throw new JsonRpcError(3, "execution reverted", "0x");
    },
  } as const;
  const responses = Object.entries(DROPPED);
  let deep: IndexerStage;
  beforeAll(async () => {
    deep = await openIndexerStage(83, { finalityDepth: 300, reorgDepthMax: 0 });
    await deep.runSteps(60);
    await deep.chain.mine(310);
  }, MINUTE);
  afterAll(() => deep?.chain.stop());

  it.each(responses)(
    "compares a later block where the state of the final one is pruned, which the node shows by %s",
    async (_, onDroppedState) => {
      const { request } = deep.chain;
      const node = await startPrunedNode({
        request,
        traces: true,
        ...(onDroppedState && { onDroppedState }),
      });
      const index = await startTestIndex({
        urls: [node.url],
        deployment: deep.deployment,
        auditMs: AUDIT_MS,
      });
      try {
        await index.waitUntilIndexed(await deep.head());
        await expect.poll(() => audited(index).rowsChecked, { timeout: MINUTE }).toBeGreaterThan(50);
        expect(audited(index).differences).toEqual([]);
      } finally {
        await index.close();
        await node.stop();
      }
    },
    2 * MINUTE,
  );

  it.each(responses.slice(1))(
    "counts skipped samples where a node has no state at all, which it shows by %s",
    async (_, onDroppedState) => {
      let isGone = false;
      const node = await startPrunedNode({
        request: async (method, params) =>
          isGone && method === "eth_call" ? onDroppedState?.() : stage.chain.request(method, params),
        traces: true,
      });
      await withIndex([node.url], async (index) => {
        isGone = true;
        await expect.poll(() => audited(index).notCompared, { timeout: MINUTE }).toBeGreaterThan(20);
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
        upstream: stage.chain.rpcUrl,
        plan: () => ({ kind: "status", status: 503 }),
      });
      await withIndex([stage.chain.rpcUrl], async (index) => {
        const { database } = index;
        await index.stopIndexing();
        const { block } = finalLog;
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
      await withIndex([stage.chain.rpcUrl], async (index) => {
        const { database } = index;
        await index.stopIndexing();
        const { block, logIndex } = finalLog;
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
