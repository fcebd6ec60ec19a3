// The rule that readers are held to notices every step back that no reorg explains.
import { describe, expect, it } from "vitest";
import { createBranches } from "./branches.ts";

const at = (number: number, branch = "a") => ({ number, hash: `0x${branch}${number}` }) as const;
const ref = (number: number, branch = "a") => ({ number: BigInt(number), hash: at(number, branch).hash });

describe("heads of two consecutive responses", () => {
  it("lets the heads of two responses advance or stay", () => {
    const branches = createBranches();
    expect(branches.findStepError(at(5), at(6))).toBeNull();
    expect(branches.findStepError(at(5), at(5))).toBeNull();
  });

  it("reports a head that goes back or sideways without a reorg", () => {
    const branches = createBranches();
    expect(branches.findStepError(at(5), at(4))).toMatch(/without a reorg/);
    expect(branches.findStepError(at(5), at(5, "b"))).toMatch(/without a reorg/);
  });

  it("lets a head go back to the fork of the reorg that removed its block", () => {
    const branches = createBranches();
    branches.recordReorg({ parent: ref(3), removed: [ref(4), ref(5)] });
    expect(branches.findStepError(at(5), at(3))).toBeNull();
    expect(branches.findStepError(at(5), at(5, "b"))).toBeNull();
    expect(branches.findStepError(at(5), at(2))).toMatch(/below the fork at 3/);
    expect(branches.findStepError(at(3), at(2))).toMatch(/without a reorg/);
    branches.recordReorg({ parent: ref(1), removed: [ref(2), ref(3), ref(4, "b")] });
    expect(branches.findStepError(at(5), at(1))).toBeNull();
    expect(branches.findStepError(at(4, "b"), at(0))).toMatch(/below the fork at 1/);
  });
});
