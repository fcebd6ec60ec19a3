// SparkLend, a fork of Aave v3 before its version 3.1.
import type { PositionReader } from "../../types.ts";
import type { AaveMarket, AaveProtocol } from "../aave-v3/market.ts";
import { createAaveReader } from "../aave-v3/reader.ts";

/** It has contracts for debt at a stable rate, which was never enabled. */
const SPARK: AaveProtocol = {
  protocol: "spark",
  title: "SparkLend",
  layout: { words: 15, aToken: 8, debtToken: 10, stableDebtToken: null },
};

export function createSparkReader(
  marketsByChain: ReadonlyMap<number, readonly AaveMarket[]>,
): PositionReader {
  return createAaveReader(SPARK, marketsByChain);
}
