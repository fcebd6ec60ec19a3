// The indexer on a real chain has, at every block, exactly the rows of the reference model.
import { describe, it } from "vitest";
import { runsOf } from "../support/test-depth.ts";
import { expectIndexEqualsModel } from "./index-equals-model.ts";

describe("a simulated history that is followed live (seed 11)", () => {
  it("a history followed live has the rows of the reference model, also after a fork", async () => {
    await expectIndexEqualsModel(11, { isLive: true, blocksCompared: runsOf(15) });
  }, 120_000);
});
