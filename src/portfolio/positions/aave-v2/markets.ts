// The Aave v2 markets by chain id.
import type { AaveMarket } from "../aave-v3/market.ts";
import { aaveV2Ethereum } from "./markets/ethereum.ts";
import { aaveV2EthereumAmm } from "./markets/ethereum-amm.ts";
import { aaveV2Polygon } from "./markets/polygon.ts";

export const AAVE_V2_MARKETS: ReadonlyMap<number, readonly AaveMarket[]> = new Map([
  [1, [aaveV2Ethereum, aaveV2EthereumAmm]],
  [137, [aaveV2Polygon]],
]);
