// Chooses the blocks at which a sample of rows is compared; comparing through pruned nodes is in tests/indexer/self-audit-nodes.integration.test.ts.
import { describe, expect, it } from "vitest";
import { sampledBlocks } from "./rows.ts";

const at = (number: number, finalized: number) =>
  sampledBlocks({ block: { number, hash: "0x01", timestamp: 1 }, finalized });

describe("a sample of rows", () => {
  it("compares rows at the newest final block while every node has its state", () => {
    expect(at(732, 700)).toEqual([700]);
    expect(at(800, 700)).toEqual([700]);
  });

  it("also compares rows at a later block, kept by pruning nodes, if the final one is old", () => {
    expect(at(801, 700)).toEqual([700, 701]);
    expect(at(1_000, 700)).toEqual([700, 900]);
  });
});
