// Factories of pairs in the manner of Uniswap v2 by chain id: a token is liquidity when one of these says so.
//
// Sources, read on 2026-11-16:
// - Uniswap: Uniswap/sdks, sdk-core addresses, 2026-08-07.
// - SushiSwap: sushi-labs/sushi, features/sushiswap-v2.ts, 2026-08-07.
// - PancakeSwap: developer.pancakeswap.finance/contracts/v2/addresses.
// - Aerodrome: aerodrome-finance/contracts, README, 2024-06-05. Velodrome: velodrome-finance/contracts, README, 2025-07-18.
import type { Hex } from "../../../lib/hex.ts";

/** The weights in the number of tokens that a pair mints to its protocol before it pays liquidity out. */
type FeeMint = { readonly growth: bigint; readonly now: bigint; readonly last: bigint };

export type PairMarket = {
  readonly protocol: string;
  readonly name: string;
  readonly factory: Hex;
} & (
  | { readonly shape: "uniswap"; readonly feeMint: FeeMint }
  /** Stable or volatile pools that keep fees apart, with gauges in which their tokens are staked. */
  | { readonly shape: "velodrome"; readonly voter: Hex }
);

/** A sixth of the growth of the pair's root. */
const SIXTH: FeeMint = { growth: 1n, now: 5n, last: 1n };
/** Eight of twenty-five parts of it. */
const EIGHT_OF_25: FeeMint = { growth: 8n, now: 17n, last: 8n };

const uniswap = (factory: Hex): PairMarket => ({
  ...{ protocol: "uniswap-v2", name: "Uniswap v2", shape: "uniswap", factory, feeMint: SIXTH },
});
const sushiSwap = (factory: Hex): PairMarket => ({
  ...{ protocol: "sushiswap-v2", name: "SushiSwap v2", shape: "uniswap", factory, feeMint: SIXTH },
});
const pancakeSwap = (factory: Hex): PairMarket => ({
  ...{ protocol: "pancakeswap-v2", name: "PancakeSwap v2", shape: "uniswap", factory, feeMint: EIGHT_OF_25 },
});

const AERODROME: PairMarket = {
  ...{ protocol: "aerodrome", name: "Aerodrome", shape: "velodrome" },
  factory: "0x420dd381b31aef6683db6b902084cb0ffece40da",
  voter: "0x16613524e02ad97edfef371bc883f2f5d6c480a5",
};

const VELODROME: PairMarket = {
  ...{ protocol: "velodrome", name: "Velodrome", shape: "velodrome" },
  factory: "0xf1046053aa5682b4f9a81b5481394da16be5ff5a",
  voter: "0x41c914ee0c7e1a5edcd0295623e6dc557b5abf3c",
};

export const PAIR_MARKETS: ReadonlyMap<number, readonly PairMarket[]> = new Map([
  [
    1,
    [
      uniswap("0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"),
      sushiSwap("0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac"),
      pancakeSwap("0x1097053fd2ea711dad45caccc45eff7548fcb362"),
    ],
  ],
  [
    10,
    [
      uniswap("0x0c3c1c532f1e39edf36be9fe0be1410313e074bf"),
      sushiSwap("0xfbc12984689e5f15626bad03ad60160fe98b303c"),
      VELODROME,
    ],
  ],
  [
    137,
    [
      uniswap("0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c"),
      sushiSwap("0xc35dadb65012ec5796536bd9864ed8773abc74c4"),
    ],
  ],
  [
    8453,
    [
      uniswap("0x8909dc15e40173ff4699343b6eb8132c65e18ec6"),
      sushiSwap("0x71524b4f93c58fcbf659783284e38825f0622859"),
      pancakeSwap("0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e"),
      AERODROME,
    ],
  ],
  [
    42161,
    [
      uniswap("0xf1d7cc64fb4452f05c498126312ebe29f30fbcf9"),
      sushiSwap("0xc35dadb65012ec5796536bd9864ed8773abc74c4"),
      pancakeSwap("0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e"),
    ],
  ],
]);
