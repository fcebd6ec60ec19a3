// More seeds, and random reorgs, of the rules that identical-tables.test.ts checks with one seed and fixed reorgs.
import fc from "fast-check";
import { describe, it, onTestFinished } from "vitest";
import { expectSameTablesEveryWay, expectTablesOfFinalChain, followStage } from "./identical-tables.ts";
import { openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

describe("live, backfill and rebuild", () => {
  it.each([12, 13])(
    "live, backfill and rebuild write byte-identical tables (seed %i)",
    async (seed) => {
      const stage = await openIndexerStage(seed);
      onTestFinished(() => stage.chain.stop());
      const live = await followStage(stage);
      onTestFinished(() => live.close());
      await expectSameTablesEveryWay(stage, live, 220);
    },
    2 * MINUTE,
  );
});

describe("random reorgs", () => {
  it(
    "random reorgs end in the tables of the final chain",
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
            const index = await followStage(stage);
            try {
              await stage.runSteps(40);
              await expectTablesOfFinalChain(stage, index, acts);
            } finally {
              await index.close();
              await stage.chain.stop();
            }
          },
        ),
        { numRuns: 4, endOnFailure: true },
      );
    },
    3 * MINUTE,
  );
});
