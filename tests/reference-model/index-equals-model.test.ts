// The indexer on a real chain has, at every block, exactly the rows of the reference model.
import { describe, it } from "vitest";
import { expectIndexEqualsModel } from "./index-equals-model.ts";

describe("a simulated history that is followed live (seed 11)", () => {
  it("has the rows of the reference model at every block, also after a fork", async () => {
    await expectIndexEqualsModel(11, { isLive: true });
  }, 120_000);
});
