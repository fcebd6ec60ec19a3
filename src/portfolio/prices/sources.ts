// The price sources in order of trust: a group is asked at once, and the next one only about what is still unpriced.

import type { ChainFeeds } from "../../chain/price-feeds/price-feed.ts";
import type { AaveMarket } from "../positions/aave-v3/market.ts";
import type { PriceSource } from "../types.ts";
import { createAaveOracle } from "./aave-oracle.ts";
import { createChainlink } from "./chainlink.ts";
import { createDefiLlama, type DefiLlamaOptions } from "./defillama.ts";
import { createOffchainOracle } from "./offchain-oracle.ts";
import type { SpotMarket } from "./spot-markets.ts";

type PriceSourceOptions = {
  /** Data by chain id instead of the built-in one, as a local chain needs it. */
  readonly feeds?: ReadonlyMap<number, ChainFeeds>;
  readonly aaveMarkets?: ReadonlyMap<number, readonly AaveMarket[]>;
  readonly spotMarkets?: ReadonlyMap<number, SpotMarket>;
  /** Without it nothing is asked over HTTP. */
  readonly defiLlama?: DefiLlamaOptions;
};

/** Within a group an earlier source wins over a later one. */
export function priceSources(options: PriceSourceOptions = {}): readonly (readonly PriceSource[])[] {
  const { feeds, aaveMarkets, spotMarkets, defiLlama } = options;
  const chainlink = createChainlink(feeds);
  const aave = createAaveOracle({
    ...(feeds && { feeds }),
    ...(aaveMarkets && { markets: aaveMarkets }),
  });
  const spot = createOffchainOracle({
    nativePrice: chainlink,
    ...(spotMarkets && { markets: spotMarkets }),
  });
  return [[chainlink, aave], [spot], ...(defiLlama ? [[createDefiLlama(defiLlama)]] : [])];
}
