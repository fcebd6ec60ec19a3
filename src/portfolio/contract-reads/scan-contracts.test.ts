// A scan of contracts ends, also on a node that reads one item a call.
import { expect, it } from "vitest";
import type { PinnedChain } from "../types.ts";
import { scanContracts } from "./scan-contracts.ts";

it("makes no more calls one after another than the scan allows, and fails what is left", async () => {
  let [calls, reads] = [0, 0];
  const at = {
    callWithOverride: async () => {
      calls += 1;
      return "0x01";
    },
    // Multicall3 does not run either.
    read: async (all: readonly unknown[]) => {
      reads += 1;
      return all.map(() => null);
    },
  } as unknown as PinnedChain;
  const items = Array.from({ length: 300 }, (_, index) => index);
  const { found, failed } = await scanContracts<number, { readonly value: bigint }>(
    at,
    {
      items,
      itemsPerCall: 100,
      callsMax: 5,
      code: "0x00",
      encode: () => "0x",
      decode: () => [[], [], 1n],
      callOf: () => ({ to: `0x${"11".repeat(20)}`, data: "0x" }),
      decodeOne: () => null,
      gasPerItem: 100_000,
      title: "a scan",
    },
    new AbortController().signal,
  );
  expect(calls).toBe(15);
  expect(found).toEqual([]);
  expect(failed).toHaveLength(285);
  // Groups of 285, 36 and 5, then single calls, each round in one request.
  expect(reads).toBeLessThanOrEqual(4);
});
