// Live indexing, backfill, rebuild and reorgs lead to byte-identical tables.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rebuildTestRows, startTestIndex } from "../support/index/test-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

async function freshDigest(
  stage: IndexerStage,
  finalized: number,
): Promise<Readonly<Record<string, string>>> {
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  await index.waitUntilIndexed(await stage.head());
  const digest = await index.digest(finalized);
  await index.close();
  return digest;
}

describe("live, backfill and rebuild", () => {
  it.each([11, 12, 13])(
    "give byte-identical tables (seed %i)",
    async (seed) => {
      const stage = await openIndexerStage(seed);
      const live = await startTestIndex({
        urls: [stage.chain.rpcUrl, stage.chain.wsUrl],
        deployment: stage.deployment,
      });
      await stage.runSteps(220);
      const head = await stage.head();
      await live.waitUntilIndexed(head);
      const finalized = head.number - 32;
      const digest = await live.digest(finalized);
      expect(Object.values(digest).filter((text) => !text.startsWith("0 rows")).length).toBeGreaterThan(25);

      expect(await freshDigest(stage, finalized)).toEqual(digest);

      await live.stopIndexing();
      expect(await rebuildTestRows(live.database, stage.deployment)).toBeGreaterThan(200);
      expect(await live.digest(finalized)).toEqual(digest);

      await live.close();
      await stage.chain.stop();
    },
    2 * MINUTE,
  );
});

describe("random reorgs", () => {
  it(
    "end in the tables of the final chain",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 1_000_000 }),
          fc.array(
            fc.record({
              steps: fc.integer({ min: 5, max: 40 }),
              depth: fc.integer({ min: 1, max: 24 }),
              keep: fc.constantFrom("none" as const, "all" as const),
              more: fc.integer({ min: 0, max: 6 }),
            }),
            { minLength: 2, maxLength: 4 },
          ),
          async (seed, acts) => {
            const stage = await openIndexerStage(seed);
            const index = await startTestIndex({
              urls: [stage.chain.rpcUrl, stage.chain.wsUrl],
              deployment: stage.deployment,
            });
            await stage.runSteps(40);
            for (const { steps, depth, keep, more } of acts) {
              await stage.runSteps(steps);
              // The index may be synced when the chain forks, or in the middle of a batch.
              if (more % 2 === 0) await index.waitUntilIndexed(await stage.head());
              await stage.chain.reorg(depth, { replay: keep, blocks: depth + more });
            }
            await stage.runSteps(10);
            const head = await stage.head();
            await index.waitUntilIndexed(head);
            const finalized = head.number - 32;
            expect(await index.digest(finalized)).toEqual(await freshDigest(stage, finalized));
            await index.close();
            await stage.chain.stop();
          },
        ),
        { numRuns: 4, endOnFailure: true },
      );
    },
    3 * MINUTE,
  );
});
