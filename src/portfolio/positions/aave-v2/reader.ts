// Aave v2: the reader of v3 with other words, and debt at a stable rate.
import type { PositionReader } from "../../types.ts";
import type { AaveMarket, AaveProtocol } from "../aave-v3/market.ts";
import { createAaveReader } from "../aave-v3/reader.ts";

const AAVE_V2: AaveProtocol = {
  protocol: "aave-v2",
  title: "Aave v2",
  layout: { words: 12, aToken: 7, debtToken: 9, stableDebtToken: 8 },
};

export function createAaveV2Reader(
  marketsByChain: ReadonlyMap<number, readonly AaveMarket[]>,
): PositionReader {
  return createAaveReader(AAVE_V2, marketsByChain);
}
