// The Aave v3 markets by chain id. The first of a chain is its main market, whose oracle is a price source.
import type { AaveMarket } from "./market.ts";
import { aaveArbitrum } from "./markets/arbitrum.ts";
import { aaveBase } from "./markets/base.ts";
import { aaveEthereum } from "./markets/ethereum.ts";
import { aaveEthereumEtherFi } from "./markets/ethereum-ether-fi.ts";
import { aaveEthereumHorizon } from "./markets/ethereum-horizon.ts";
import { aaveEthereumLido } from "./markets/ethereum-lido.ts";
import { aaveOptimism } from "./markets/optimism.ts";
import { aavePolygon } from "./markets/polygon.ts";

export const AAVE_V3_MARKETS: ReadonlyMap<number, readonly AaveMarket[]> = new Map([
  [1, [aaveEthereum, aaveEthereumLido, aaveEthereumEtherFi, aaveEthereumHorizon]],
  [10, [aaveOptimism]],
  [137, [aavePolygon]],
  [8453, [aaveBase]],
  [42161, [aaveArbitrum]],
]);
