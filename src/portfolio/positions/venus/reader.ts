// Venus, a fork of Compound v2 with several pools on each chain.
import type { PositionReader } from "../../types.ts";
import type { CompoundV2Pool } from "../compound-v2/pool.ts";
import { createCompoundV2Reader } from "../compound-v2/reader.ts";

export function createVenusReader(
  poolsByChain: ReadonlyMap<number, readonly CompoundV2Pool[]>,
): PositionReader {
  return createCompoundV2Reader(poolsByChain, { protocol: "venus", title: "Venus", hasDelegates: true });
}
