// Where wstETH can be shown as the stETH it wraps.
import type { Hex } from "../../../lib/hex.ts";

export type WstEthMarket = { readonly wstEth: Hex; readonly stEth: Hex };

/**
 * From Lido's list of deployed contracts. Ethereum only: bridged wstETH knows no rate itself, and the chains that
 * carry a rate have no stETH that price sources know, so that there the bridged token is worth more as it is.
 */
export const WST_ETH_MARKETS: ReadonlyMap<number, WstEthMarket> = new Map([
  [
    1,
    {
      wstEth: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0",
      stEth: "0xae7ab96520de3a18e5e111b5eaab095312d7fe84",
    },
  ],
]);
