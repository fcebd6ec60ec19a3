// Ethena's staking contract by chain id.
import type { Hex } from "../../../lib/hex.ts";

export type EthenaMarket = { readonly stakedUsde: Hex; readonly usde: Hex };

/** USDe and sUSDe from @aave-dao/aave-address-book 4.68.1; the bridged tokens know no cooldown. */
export const ETHENA_MARKETS: ReadonlyMap<number, readonly EthenaMarket[]> = new Map([
  [
    1,
    [
      {
        stakedUsde: "0x9d39a5de30e57443bff2a8307a4256c8797a3497",
        usde: "0x4c9edd5852cd905f086c759e8383e09bff1e68b3",
      },
    ],
  ],
]);
