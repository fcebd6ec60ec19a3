// The chains on which wstETH can be valued as the stETH it wraps, by chain id.
import type { Hex } from "../../../lib/hex.ts";

export type LidoMarket = { readonly wstEth: Hex; readonly stEth: Hex };

/**
 * From Lido's list of deployed contracts. Ethereum only: bridged wstETH has no rate itself, and on chains with a rate
 * no price source knows stETH, so the bridged token is better valued directly.
 */
export const LIDO_MARKETS: ReadonlyMap<number, LidoMarket> = new Map([
  [
    1,
    {
      wstEth: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0",
      stEth: "0xae7ab96520de3a18e5e111b5eaab095312d7fe84",
    },
  ],
]);
