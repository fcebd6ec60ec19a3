// An index of a simulated history whose self-audit runs all the time, as both files of its tests use it.
import { expect } from "vitest";
import type { RpcLimits } from "../../src/chain/rpc/types.ts";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import type { ChainLog } from "../../src/schema/chain-log.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { readStoredLogs } from "../../src/store/index/raw-logs.ts";
import { startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { FINALITY, type LogPosition, pickFinalLog } from "./clean-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

// The tests wait for findings, not for time; a short interval makes them fast.
export const AUDIT_MS = 10;
const STEPS = 120;
/** The tests expect windows of more than 30 blocks. */
const FINAL_BLOCKS_MIN = 35;
const PASS_MS_MAX = 60_000;

type IndexOptions = {
  /** Reads all history from the nodes instead of continuing a copy of the index. */
  readonly fromStart?: boolean;
  readonly rpcLimits?: Partial<RpcLimits>;
};

export type AuditStage = IndexerStage & {
  readonly indexedHead: { readonly number: number; readonly hash: string };
  readonly finalLog: LogPosition;
  readonly finalLogs: readonly ChainLog[];
  /** Digest of the tables of an index that was read from an honest node. */
  readonly digest: Readonly<Record<string, string>>;
  withIndex(
    urls: readonly string[],
    work: (index: TestIndex) => Promise<void>,
    options?: IndexOptions,
  ): Promise<void>;
  isAgentUpdate(log: ChainLog): boolean;
  close(): Promise<void>;
};

export const auditOf = (index: TestIndex) => index.status.report().audit;

/** A shorter history is compared with the chain in less time. */
export async function openAuditStage(steps = STEPS): Promise<AuditStage> {
  const stage = await openIndexerStage(81, { reorgDepthMax: 0 });
  const { deployment } = stage;
  await stage.runSteps(steps);
  const indexedHead = await stage.head();
  expect(indexedHead.number - FINALITY - deployment.startBlock).toBeGreaterThan(FINAL_BLOCKS_MIN);
  const first = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment });
  await first.waitUntilIndexed(indexedHead);
  const finalLog = await pickFinalLog(first);
  const finalLogs = await readFinalLogs(first);
  const digest = await first.digest();
  // Most tests continue a copy of it.
  const indexed = await first.keepAsTemplate();
  return {
    ...stage,
    indexedHead,
    finalLog,
    finalLogs,
    digest,
    async withIndex(urls, work, { fromStart = false, rpcLimits = {} } = {}) {
      const template = fromStart ? {} : { template: indexed.name };
      const index = await startTestIndex({ urls, deployment, auditMs: AUDIT_MS, rpcLimits, ...template });
      try {
        await index.waitUntilIndexed(indexedHead);
        await work(index);
      } finally {
        await index.close();
      }
    },
    isAgentUpdate: (log) => createLogDecoder(deployment).decode(log, 0n)?.name === "AgentUpdated",
    async close() {
      await indexed.drop();
      await stage.chain.stop();
    },
  };
}

async function readFinalLogs({ database }: TestIndex): Promise<ChainLog[]> {
  const toBlock = (await readCheckpoint(database))?.finalized ?? 0;
  const stored = await readStoredLogs(database, { afterBlock: 0, toBlock, logsMax: 10_000 });
  return stored.map(({ log }) => log);
}

/** Every final block was compared again. */
export async function auditAllBlocks(index: TestIndex, head: number): Promise<void> {
  const before = auditOf(index).blocksChecked;
  await expect
    .poll(() => auditOf(index).blocksChecked - before, { timeout: PASS_MS_MAX })
    .toBeGreaterThan(2 * head);
}
