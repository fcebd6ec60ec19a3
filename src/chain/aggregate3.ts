// Many calls as one: what Multicall3 takes and returns.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { createFunctionCodec, createParametersCodec } from "../lib/abi/codec.ts";
import { nullIfMalformed } from "../lib/abi/words.ts";
import type { Hex } from "../lib/hex.ts";

/** The same address on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const aggregate3 = createFunctionCodec(multicall3Abi, "aggregate3");
/** The offset of the list of results, and its length. */
const listHead = createParametersCodec([{ type: "uint256" }, { type: "uint256" }]);
const LIST_OFFSET = 32n;

/** Every call may fail without failing the others. */
export function encodeAggregate3(calls: readonly { readonly to: Hex; readonly data: Hex }[]): Hex {
  return aggregate3.encodeCall([
    calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data })),
  ]);
}

/** Null for each call that failed; null as a whole when the data is not the result of `count` calls. */
export function decodeAggregate3(returnData: Hex, count: number): readonly (Hex | null)[] | null {
  // Before anything is decoded: a hostile contract may claim as many results as the response has words.
  if (!returnData.startsWith(listHead.encode([LIST_OFFSET, count]))) return null;
  const results = nullIfMalformed(() => aggregate3.decodeResult(returnData));
  return results?.map(({ success, returnData: own }) => (success ? own : null)) ?? null;
}
