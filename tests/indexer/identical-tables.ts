// Histories that are indexed in several ways, and the comparison of the tables.
import { expect } from "vitest";
import { rebuildTestRows, startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { digestCleanIndex } from "./clean-index.ts";
import type { IndexerStage } from "./indexer-stage.ts";

type ReorgAct = {
  readonly steps: number;
  readonly depth: number;
  readonly keep: "none" | "all";
  /** Blocks by which the new branch is longer; the index is synced before the fork if it is even. */
  readonly more: number;
};

// Few, so that they do not write again what a reorg restored.
const STEPS_AFTER = 10;

/** Follows the stage's chain live, by HTTP and WebSocket; from its start, or from a copy of another index. */
export function followStage(stage: IndexerStage, template?: string): Promise<TestIndex> {
  const { chain, deployment } = stage;
  const copied = template === undefined ? {} : { template };
  return startTestIndex({ urls: [chain.rpcUrl, chain.wsUrl], deployment, ...copied });
}

/** Follows a history live, whose last blocks are undone, indexes it again, and rebuilds the rows; the index ends stopped. */
export async function expectSameTablesEveryWay(
  stage: IndexerStage,
  live: TestIndex,
  steps: number,
  acts: readonly ReorgAct[] = [],
): Promise<void> {
  await stage.runSteps(steps);
  await undoBlocks(stage, live, acts);
  await stage.runSteps(STEPS_AFTER);
  await live.waitUntilIndexed(await stage.head());
  const { finalized, digest } = await digestCleanIndex(stage);
  expect(Object.values(digest).filter((text) => !text.startsWith("0 rows")).length).toBeGreaterThan(25);
  expect(await live.digest(finalized)).toEqual(digest);

  await live.stopIndexing();
  expect(await rebuildTestRows(live.database, stage.deployment)).toBeGreaterThan(steps);
  expect(await live.digest(finalized)).toEqual(digest);
}

/** Undoes blocks while an index follows the chain, which then has the tables of the final chain. */
export async function expectTablesOfFinalChain(
  stage: IndexerStage,
  index: TestIndex,
  acts: readonly ReorgAct[],
): Promise<void> {
  await undoBlocks(stage, index, acts);
  await stage.runSteps(STEPS_AFTER);
  await index.waitUntilIndexed(await stage.head());
  const { finalized, digest } = await digestCleanIndex(stage);
  expect(await index.digest(finalized)).toEqual(digest);
}

async function undoBlocks(stage: IndexerStage, index: TestIndex, acts: readonly ReorgAct[]): Promise<void> {
  for (const { steps, depth, keep, more } of acts) {
    await stage.runSteps(steps);
    // The index may be synced when the chain forks, or in the middle of a batch.
    if (more % 2 === 0) await index.waitUntilIndexed(await stage.head());
    await stage.chain.reorg(depth, { replay: keep, blocks: depth + more });
  }
}
