// Live indexing, backfill, rebuild and reorgs lead to byte-identical tables.
import { expect, it, onTestFinished } from "vitest";
import { expectSameTablesEveryWay, followStage } from "./identical-tables.ts";
import { openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
// As few as fill most tables.
const STEPS = 120;

it(
  "live indexing through reorgs, backfill and rebuild write byte-identical tables (seed 11)",
  async () => {
    const stage = await openIndexerStage(11);
    onTestFinished(() => stage.chain.stop());
    const live = await followStage(stage);
    onTestFinished(() => live.close());
    // The second fork comes in the middle of a batch.
    await expectSameTablesEveryWay(stage, live, STEPS, [
      { steps: 10, depth: 3, keep: "all", more: 0 },
      { steps: 10, depth: 24, keep: "none", more: 1 },
      { steps: 5, depth: 8, keep: "none", more: 2 },
    ]);
    expect(live.status.report().reorgs).toBeGreaterThan(0);
  },
  4 * MINUTE,
);
