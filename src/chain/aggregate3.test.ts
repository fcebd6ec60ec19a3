// Calls and results of aggregate3 agree with viem's, and everything else is rejected.
import { multicall3Abi as abi } from "@sextant/contracts/generated/multicall3";
import fc from "fast-check";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../lib/hex.ts";
import { decodeAggregate3, encodeAggregate3 } from "./aggregate3.ts";

const bytesArb = fc
  .uint8Array({ maxLength: 100 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const addressArb = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

describe("aggregate3", () => {
  it("encodes aggregate3 as viem does", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: addressArb, data: bytesArb }), { maxLength: 8 }), (calls) => {
        const args = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
        expect(encodeAggregate3(calls)).toBe(
          encodeFunctionData({ abi, functionName: "aggregate3", args: [args] }),
        );
      }),
    );
  });

  it("decodes the results that viem encodes", () => {
    const results = fc.array(fc.record({ success: fc.boolean(), returnData: bytesArb }), { maxLength: 8 });
    fc.assert(
      fc.property(results, (result) => {
        const returnData = encodeFunctionResult({ abi, functionName: "aggregate3", result });
        const decoded = result.map(({ success, returnData }) => (success ? returnData : null));
        expect(decodeAggregate3(returnData, result.length)).toEqual(decoded);
        expect(decodeAggregate3(returnData, result.length + 1)).toBeNull();
      }),
    );
  });

  it("rejects truncated and unrelated data", () => {
    const result = [{ success: true, returnData: "0x1234" }] as const;
    const returnData = encodeFunctionResult({ abi, functionName: "aggregate3", result });
    for (const bad of [
      "0x",
      "0x1234",
      returnData.slice(0, -66),
      `0x${"f".repeat(640)}`,
      `0x${"0".repeat(64)}`,
    ]) {
      expect(decodeAggregate3(bad as Hex, 1)).toBeNull();
    }
    fc.assert(
      fc.property(bytesArb, fc.integer({ min: 1, max: 5 }), (bytes, count) => {
        expect(decodeAggregate3(bytes, count)).toBeNull();
      }),
    );
  });
});
