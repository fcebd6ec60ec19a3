// The Aave v3 markets of each chain.
import type { AaveMarket } from "./aave-market.ts";
import { aaveArbitrum } from "./aave-reserves/arbitrum.ts";
import { aaveBase } from "./aave-reserves/base.ts";
import { aaveEthereum } from "./aave-reserves/ethereum.ts";
import { aaveEthereumEtherFi } from "./aave-reserves/ethereum-ether-fi.ts";
import { aaveEthereumHorizon } from "./aave-reserves/ethereum-horizon.ts";
import { aaveEthereumLido } from "./aave-reserves/ethereum-lido.ts";
import { aaveOptimism } from "./aave-reserves/optimism.ts";
import { aavePolygon } from "./aave-reserves/polygon.ts";

export const AAVE_V3_MARKETS: ReadonlyMap<number, readonly AaveMarket[]> = new Map([
  [1, [aaveEthereum, aaveEthereumLido, aaveEthereumEtherFi, aaveEthereumHorizon]],
  [10, [aaveOptimism]],
  [137, [aavePolygon]],
  [8453, [aaveBase]],
  [42161, [aaveArbitrum]],
]);
