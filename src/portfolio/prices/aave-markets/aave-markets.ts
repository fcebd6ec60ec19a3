// Every chain whose Aave v3 market is known, by chain id.
import type { AaveMarket } from "./aave-market.ts";
import { arbitrumAaveMarket } from "./arbitrum.ts";
import { baseAaveMarket } from "./base.ts";
import { ethereumAaveMarket } from "./ethereum.ts";
import { optimismAaveMarket } from "./optimism.ts";
import { polygonAaveMarket } from "./polygon.ts";

export const AAVE_MARKETS: ReadonlyMap<number, AaveMarket> = new Map([
  [1, ethereumAaveMarket],
  [10, optimismAaveMarket],
  [137, polygonAaveMarket],
  [8453, baseAaveMarket],
  [42161, arbitrumAaveMarket],
]);
