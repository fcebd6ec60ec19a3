// Histories that are indexed in several ways, and the comparison of the tables.
import { expect } from "vitest";
import { rebuildTestRows, startTestIndex } from "../support/index/test-index.ts";
import { digestCleanIndex } from "./clean-index.ts";
import type { IndexerStage } from "./indexer-stage.ts";

type ReorgAct = {
  readonly steps: number;
  readonly depth: number;
  readonly keep: "none" | "all";
  /** Blocks by which the new branch is longer; the index is synced before the fork if it is even. */
  readonly more: number;
};

/** Follows a history live, indexes it again from the start, and rebuilds it. */
export async function expectSameTablesEveryWay(stage: IndexerStage): Promise<void> {
  const live = await startTestIndex({
    urls: [stage.chain.rpcUrl, stage.chain.wsUrl],
    deployment: stage.deployment,
  });
  try {
    await stage.runSteps(220);
    await live.waitUntilIndexed(await stage.head());
    const { finalized, digest } = await digestCleanIndex(stage);
    expect(Object.values(digest).filter((text) => !text.startsWith("0 rows")).length).toBeGreaterThan(25);
    expect(await live.digest(finalized)).toEqual(digest);

    await live.stopIndexing();
    expect(await rebuildTestRows(live.database, stage.deployment)).toBeGreaterThan(200);
    expect(await live.digest(finalized)).toEqual(digest);
  } finally {
    await live.close();
  }
}

/** Undoes blocks while an index follows the chain, which then has the tables of the final chain. */
export async function expectTablesOfFinalChain(
  stage: IndexerStage,
  acts: readonly ReorgAct[],
): Promise<void> {
  const index = await startTestIndex({
    urls: [stage.chain.rpcUrl, stage.chain.wsUrl],
    deployment: stage.deployment,
  });
  try {
    await stage.runSteps(40);
    for (const { steps, depth, keep, more } of acts) {
      await stage.runSteps(steps);
      // The index may be synced when the chain forks, or in the middle of a batch.
      if (more % 2 === 0) await index.waitUntilIndexed(await stage.head());
      await stage.chain.reorg(depth, { replay: keep, blocks: depth + more });
    }
    await stage.runSteps(10);
    await index.waitUntilIndexed(await stage.head());
    const { finalized, digest } = await digestCleanIndex(stage);
    expect(await index.digest(finalized)).toEqual(digest);
  } finally {
    await index.close();
  }
}
