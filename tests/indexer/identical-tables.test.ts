// Live indexing, backfill, rebuild and reorgs lead to byte-identical tables.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../support/database/test-database.ts";
import { expectSameTablesEveryWay, expectTablesOfFinalChain, followStage } from "./identical-tables.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
// As few as fill most tables.
const STEPS = 120;

// One chain for both tests: the second goes on where the first has rebuilt the rows.
let stage: IndexerStage;
let rebuilt: TestDatabase | undefined;
beforeAll(async () => {
  stage = await openIndexerStage(11);
}, MINUTE);
afterAll(async () => {
  await rebuilt?.drop();
  await stage?.chain.stop();
});

describe("live indexing, backfill and rebuild", () => {
  it(
    "live indexing, backfill and rebuild write byte-identical tables (seed 11)",
    async () => {
      const live = await followStage(stage);
      try {
        await expectSameTablesEveryWay(stage, live, STEPS);
      } finally {
        rebuilt = await live.keepAsTemplate();
      }
    },
    2 * MINUTE,
  );
});

describe("reorgs", () => {
  it(
    "reorgs end in the tables of the final chain, also in the middle of a batch",
    async () => {
      const index = await followStage(stage, rebuilt?.name);
      onTestFinished(() => index.close());
      await expectTablesOfFinalChain(stage, index, [
        { steps: 10, depth: 3, keep: "all", more: 0 },
        { steps: 10, depth: 24, keep: "none", more: 1 },
        { steps: 5, depth: 8, keep: "none", more: 2 },
      ]);
      expect(index.status.report().reorgs).toBeGreaterThan(0);
    },
    2 * MINUTE,
  );
});
