// The price sources in groups of decreasing trust; each group only prices what the groups before it did not.

import type { ChainPriceFeeds } from "../../chain/price-feeds/price-feeds.ts";
import { keepPresent } from "../../lib/lists.ts";
import type { AaveMarket } from "../positions/aave-v3/markets.ts";
import type { PriceSource } from "../types.ts";
import { createAaveOracleSource } from "./aave-oracle.ts";
import { createChainlinkSource } from "./chainlink.ts";
import { createDefiLlamaSource, type DefiLlamaOptions } from "./defillama.ts";
import { createPoolPriceSource } from "./pool-prices.ts";
import type { SpotMarket } from "./spot-markets.ts";

type PriceSourceOptions = {
  /** Feeds by chain id; they replace the built-in data, as a local chain needs it. */
  readonly feeds?: ReadonlyMap<number, ChainPriceFeeds>;
  readonly aaveMarkets?: ReadonlyMap<number, readonly AaveMarket[]>;
  readonly spotMarkets?: ReadonlyMap<number, SpotMarket>;
  /** Without it, no price is requested over HTTP. */
  readonly defiLlama?: DefiLlamaOptions;
};

/** Within a group an earlier source wins over a later one. */
export function createPriceSources(options: PriceSourceOptions = {}): readonly (readonly PriceSource[])[] {
  const { feeds, aaveMarkets, spotMarkets, defiLlama } = options;
  const chainlink = createChainlinkSource(feeds);
  const trusted = [chainlink, createAaveOracleSource({ feeds, markets: aaveMarkets })];
  const pools = createPoolPriceSource({ trusted, markets: spotMarkets });
  return keepPresent(trusted, [pools], defiLlama && [createDefiLlamaSource(defiLlama)]);
}
