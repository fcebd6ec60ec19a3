// Rocket Pool's token by chain id.
import type { RatedToken } from "../rate-reader.ts";

/**
 * Address from @aave-dao/aave-address-book 4.68.1. Ethereum only: bridged rETH does not know the rate, and Aave prices it
 * where it is a reserve.
 */
export const ROCKET_POOL_TOKENS: ReadonlyMap<number, readonly RatedToken[]> = new Map([
  [
    1,
    [
      {
        token: "0xae78736cd615f374d3085123a210448e74fc6393",
        name: "Rocket Pool rETH",
        kind: "staked",
        asset: null,
        rate: {
          contract: "0xae78736cd615f374d3085123a210448e74fc6393",
          signature: "function getExchangeRate() view returns (uint256)",
          args: [],
          scale: 18,
        },
      },
    ],
  ],
]);
