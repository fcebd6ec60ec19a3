// Bundles made and opened by hand are those of the general encoder, and nothing else is taken for one.
import { multicall3Abi as abi } from "@sextant/contracts/generated/multicall3";
import fc from "fast-check";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../lib/hex.ts";
import { decodeAggregate3, encodeAggregate3 } from "./multicall.ts";

const bytesArb = fc
  .uint8Array({ maxLength: 100 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const addressArb = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

describe("a bundle", () => {
  it("is encoded as viem does it", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: addressArb, data: bytesArb }), { maxLength: 8 }), (calls) => {
        const args = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
        expect(encodeAggregate3(calls)).toBe(
          encodeFunctionData({ abi, functionName: "aggregate3", args: [args] }),
        );
      }),
    );
  });

  it("is opened as it was closed", () => {
    const results = fc.array(fc.record({ success: fc.boolean(), returnData: bytesArb }), { maxLength: 8 });
    fc.assert(
      fc.property(results, (result) => {
        const answer = encodeFunctionResult({ abi, functionName: "aggregate3", result });
        const opened = result.map(({ success, returnData }) => (success ? returnData : null));
        expect(decodeAggregate3(answer, result.length)).toEqual(opened);
        expect(decodeAggregate3(answer, result.length + 1)).toBeNull();
      }),
    );
  });

  it("that is cut short, or something else, is none", () => {
    const result = [{ success: true, returnData: "0x1234" }] as const;
    const answer = encodeFunctionResult({ abi, functionName: "aggregate3", result });
    for (const bad of ["0x", "0x1234", answer.slice(0, -66), `0x${"f".repeat(640)}`, `0x${"0".repeat(64)}`]) {
      expect(decodeAggregate3(bad as Hex, 1)).toBeNull();
    }
    fc.assert(
      fc.property(bytesArb, fc.integer({ min: 1, max: 5 }), (bytes, count) => {
        expect(decodeAggregate3(bytes, count)).toBeNull();
      }),
    );
  });
});
