// Live indexing, backfill, rebuild and reorgs lead to byte-identical tables.
import { describe, it, onTestFinished } from "vitest";
import { expectSameTablesEveryWay, expectTablesOfFinalChain } from "./identical-tables.ts";
import { openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

describe("live, backfill and rebuild", () => {
  it(
    "give byte-identical tables (seed 11)",
    async () => {
      const stage = await openIndexerStage(11, { reorgDepthMax: 0 });
      onTestFinished(() => stage.chain.stop());
      await expectSameTablesEveryWay(stage);
    },
    2 * MINUTE,
  );
});

describe("reorgs", () => {
  it(
    "of a synced index and of one in the middle of a batch end in the tables of the final chain",
    async () => {
      const stage = await openIndexerStage(14);
      onTestFinished(() => stage.chain.stop());
      await expectTablesOfFinalChain(stage, [
        { steps: 10, depth: 3, keep: "all", more: 0 },
        { steps: 10, depth: 24, keep: "none", more: 1 },
        { steps: 5, depth: 8, keep: "none", more: 2 },
      ]);
    },
    2 * MINUTE,
  );
});
