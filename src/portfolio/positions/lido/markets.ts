// Lido's contracts by chain id.
import type { Hex } from "../../../lib/hex.ts";

/** Name of the protocol in its positions. */
export const LIDO_PROTOCOL = "lido";

export type LidoMarket = { readonly wstEth: Hex; readonly stEth: Hex; readonly withdrawalQueue: Hex };

/**
 * From deployed-mainnet.json of lidofinance/core (2026-06-23). Ethereum only: stETH is a token with a feed of its own, and
 * so is the wstETH of other chains, which does not know its rate there.
 */
export const LIDO_MARKETS: ReadonlyMap<number, LidoMarket> = new Map([
  [
    1,
    {
      wstEth: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0",
      stEth: "0xae7ab96520de3a18e5e111b5eaab095312d7fe84",
      withdrawalQueue: "0x889edc2edab5f40e902b864ad4d7ade8e412f9b1",
    },
  ],
]);
