// The blocks that the receipt of a response states, whatever form the response has.
import { expect, it } from "vitest";
import { createTestKeys } from "../../../tests/support/signing/test-keys.ts";
import { exampleExposure } from "../../schema/portfolio/examples.ts";
import { noteResponse } from "./receipts.ts";

it("names the blocks of an exposure, whose summary has them", () => {
  const stored = { status: 200, headers: {}, body: Buffer.from("{}") };
  const noted = noteResponse(
    { signingKeys: createTestKeys() },
    { status: 200, body: exampleExposure },
    stored,
  );
  const { blocks } = JSON.parse((noted.headers as Record<string, string>)["sextant-answer"] ?? "") as {
    readonly blocks: readonly unknown[];
  };
  const expected = exampleExposure.summary.chains.map(({ chain, blockNumber: number }) => ({
    chain,
    number,
  }));
  expect(blocks).toEqual(expected);
  expect(blocks.length).toBeGreaterThan(0);
});
