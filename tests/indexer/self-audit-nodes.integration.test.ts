// The self-audit of indexes that were built through lying, absent and pruned nodes. Fast tests of the same rules:
// src/indexer/self-audit/*.test.ts (rows.test.ts: which block is compared if the state of the final one may be pruned),
// src/audit/table.test.ts. Single differences are in self-audit.integration.test.ts.

import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localChain } from "../../src/chain/chains/chains.ts";
import type { BlockSpan } from "../../src/indexer/self-audit/unconfirmed-ranges.ts";
import type { IndexerReport } from "../../src/indexer/status.ts";
import type { ChainLog } from "../../src/schema/chain-log.ts";
import { readIndexerStatus } from "../../src/store/index/checkpoint.ts";
import { startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { startFaultyNode } from "../support/nodes/faulty-node.ts";
import { startPrunedNode } from "../support/nodes/pruned-node.ts";
import { AUDIT_MS, type AuditStage, auditAllBlocks, auditOf, openAuditStage } from "./audit-stage.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

let stage: AuditStage;

/** The last update that is alone in its block and final for every node. */
function findLonelyUpdate(): ChainLog {
  const update = stage.finalLogs.findLast(
    (log) =>
      log.blockNumber < stage.indexedHead.number - localChain.finalityDepth &&
      stage.isAgentUpdate(log) &&
      stage.finalLogs.filter(({ blockNumber }) => blockNumber === log.blockNumber).length === 1,
  );
  if (!update) throw new Error("no agent was updated alone in a block");
  return update;
}

describe("the self-audit", () => {
  beforeAll(async () => {
    stage = await openAuditStage();
  }, MINUTE);
  afterAll(() => stage?.close());

  it(
    "finds a log that the only node always omits where the contract shows it",
    async () => {
      const update = stage.finalLogs.findLast(stage.isAgentUpdate);
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
      await stage.withIndex([liar.url], work, { fromStart: true });
      await liar.stop();
    },
    2 * MINUTE,
  );

  it(
    "leaves unconfirmed what the only node omitted if nothing tells which of two nodes is wrong",
    async () => {
      const { blockNumber: block, logIndex } = findLonelyUpdate();
      const liar = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => ({ kind: "omit-log", block, logIndex, receipts: true }),
        liesPerCall: Number.POSITIVE_INFINITY,
      });
      let isAway = true;
      const second = await startFaultyNode({
        upstream: stage.chain.rpcUrl,
        plan: () => (isAway ? { kind: "status", status: 503 } : null),
      });
      await stage.withIndex(
        [liar.url, second.url],
        async (index) => {
          isAway = false;
          // All other blocks of the range are confirmed.
          const left = [{ from: block, to: block }];
          await expect.poll(() => auditOf(index).unconfirmed, { timeout: MINUTE }).toEqual(left);
          await auditAllBlocks(index, stage.indexedHead.number);
          expect(auditOf(index)).toMatchObject({ unconfirmed: left });
        },
        { fromStart: true, rpcLimits: { pauseMsBase: 2, pauseMsMax: 20 } },
      );
      await Promise.all([liar.stop(), second.stop()]);
    },
    3 * MINUTE,
  );

  it(
    "repairs by itself what the only node omitted while the second one was down",
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
      const countLogs = async ({ database }: TestIndex) => {
        const text = "select count(*)::int as found from logs where block_number = $1";
        const { rows } = await database.query<{ found: number }>({ text, values: [block] });
        return rows[0]?.found;
      };
      await stage.withIndex(
        [liar.url, second.url],
        async (index) => {
          const isUnconfirmed = (spans: readonly BlockSpan[] = []) =>
            spans.some(({ from, to }) => from <= block && block <= to);
          expect(isUnconfirmed(auditOf(index).unconfirmed)).toBe(true);
          // Stored before the rows: nothing writes the report every second here, as if the process had been killed.
          const stored = (await readIndexerStatus(index.database))?.report as
            | Partial<IndexerReport>
            | undefined;
          expect(isUnconfirmed(stored?.audit?.unconfirmed)).toBe(true);
          await expect
            .poll(() => index.status.readiness(), { timeout: MINUTE })
            .toMatchObject({ ready: true, details: { audit: { unconfirmed_ranges: 1 } } });
          expect(await index.status.registry.metrics()).toMatch(/sextant_indexer_unconfirmed_blocks [1-9]/);
          expect(await countLogs(index)).toBe(0);
          isAway = false;
          await expect.poll(() => auditOf(index).unconfirmed, { timeout: MINUTE }).toEqual([]);
          expect(await countLogs(index)).toBe(1);
          await expect
            .poll(() => index.status.readiness(), { timeout: MINUTE })
            .toMatchObject({ ready: true, details: { audit: { differences: 0, unconfirmed_ranges: 0 } } });
          expect(await index.digest()).toEqual(stage.digest);
          expect(await index.status.registry.metrics()).toMatch(/sextant_indexer_unconfirmed_blocks 0/);
          // It goes on from there.
          await stage.chain.mine(1);
          await index.waitUntilIndexed(await stage.head());
        },
        { fromStart: true, rpcLimits: { pauseMsBase: 2, pauseMsMax: 20 } },
      );
      await Promise.all([liar.stop(), second.stop()]);
    },
    3 * MINUTE,
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
  let deep: IndexerStage;
  beforeAll(async () => {
    deep = await openIndexerStage(83, { finalityDepth: 300, reorgDepthMax: 0 });
    await deep.runSteps(60);
    await deep.chain.mine(310);
  }, MINUTE);
  afterAll(() => deep?.chain.stop());

  it.each(Object.entries(DROPPED))(
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
        await expect.poll(() => auditOf(index).rowsChecked, { timeout: MINUTE }).toBeGreaterThan(50);
        expect(auditOf(index).differences).toEqual([]);
      } finally {
        await index.close();
        await node.stop();
      }
    },
    2 * MINUTE,
  );
});
