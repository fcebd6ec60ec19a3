// A second seed of the rule that index-equals-model.test.ts checks with a chain that is followed live.
import { describe, it } from "vitest";
import { expectIndexEqualsModel } from "./index-equals-model.ts";

describe("a simulated history that is indexed afterwards (seed 12)", () => {
  it("a history indexed afterwards has the rows of the reference model, also after a fork", async () => {
    await expectIndexEqualsModel(12, { isLive: false, blocksCompared: 15 });
  }, 120_000);
});
