// Where each chain trades: the factories whose pools give spot prices, and the tokens against which they are read.
//
// Sources of the addresses, as of August 2026: Uniswap from Uniswap/sdks (sdk-core), Sushi from sushi-labs/sushi, Aerodrome and
// Velodrome from the README files of their contracts and slipstream repositories, PancakeSwap v3 from its documentation (the
// same factory on every chain), QuickSwap v2 from its documentation. The quote tokens have a pinned feed or are Aave reserves.
import type { Hex } from "../../lib/hex.ts";

/** Each kind has its own pool contract; a factory's pools all have that code, so that what they say can be believed. */
export type PoolFactory =
  | { readonly kind: "uniswap-v2" | "solidly"; readonly factory: Hex }
  | { readonly kind: "uniswap-v3"; readonly factory: Hex; readonly fees: readonly number[] }
  | { readonly kind: "slipstream"; readonly factory: Hex; readonly tickSpacings: readonly number[] };

export type QuoteToken = { readonly token: Hex; readonly decimals: number };

export type SpotMarket = {
  readonly wrappedNative: Hex;
  /** With the wrapped native coin among them; each is itself priced by a feed or by Aave. */
  readonly quotes: readonly QuoteToken[];
  readonly factories: readonly PoolFactory[];
};

const uniswapV2 = (factory: Hex): PoolFactory => ({ kind: "uniswap-v2", factory });
// The fee tiers of every deployment. Tiers that governance added on single chains are for pairs that have feeds.
const uniswapV3 = (factory: Hex): PoolFactory => ({
  kind: "uniswap-v3",
  factory,
  fees: [100, 500, 3_000, 10_000],
});
const UNISWAP_V3 = uniswapV3("0x1f98431c8ad98523631ae4a59f267346ea31f984");
const PANCAKE_V3: PoolFactory = {
  kind: "uniswap-v3",
  factory: "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865",
  fees: [100, 500, 2_500, 10_000],
};
const SUSHI_V2 = uniswapV2("0xc35dadb65012ec5796536bd9864ed8773abc74c4");
const slipstream = (factory: Hex): PoolFactory => ({
  kind: "slipstream",
  factory,
  tickSpacings: [1, 50, 100, 200, 2_000],
});

const ether = (token: Hex): QuoteToken => ({ token, decimals: 18 });
const dollars = (token: Hex): QuoteToken => ({ token, decimals: 6 });

export const SPOT_MARKETS: ReadonlyMap<number, SpotMarket> = new Map<number, SpotMarket>([
  [
    1,
    {
      wrappedNative: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
      quotes: [
        ether("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"),
        dollars("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"), // USDC
        dollars("0xdac17f958d2ee523a2206206994597c13d831ec7"), // USDT
      ],
      factories: [
        UNISWAP_V3,
        uniswapV2("0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"),
        uniswapV2("0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac"), // Sushi
      ],
    },
  ],
  [
    10,
    {
      wrappedNative: "0x4200000000000000000000000000000000000006",
      quotes: [
        ether("0x4200000000000000000000000000000000000006"),
        dollars("0x0b2c639c533813f4aa9d7837caf62653d097ff85"), // USDC
        { token: "0x4200000000000000000000000000000000000042", decimals: 18 }, // OP
      ],
      factories: [
        UNISWAP_V3,
        uniswapV2("0x0c3c1c532f1e39edf36be9fe0be1410313e074bf"),
        { kind: "solidly", factory: "0xf1046053aa5682b4f9a81b5481394da16be5ff5a" }, // Velodrome
        slipstream("0xcc0bddb707055e04e497ab22a59c2af4391cd12f"), // Velodrome
      ],
    },
  ],
  [
    137,
    {
      wrappedNative: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
      quotes: [
        ether("0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270"),
        dollars("0x3c499c542cef5e3811e1192ce70d8cc03d5c3359"), // USDC
        dollars("0x2791bca1f2de4661ed88a30c99a7a9449aa84174"), // USDC.e
        dollars("0xc2132d05d31c914a87c6611c10748aeb04b58e8f"), // USDT
        ether("0x7ceb23fd6bc0add59e62ac25578270cff1b9f619"), // WETH
      ],
      factories: [
        UNISWAP_V3,
        uniswapV2("0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c"),
        uniswapV2("0x5757371414417b8c6caad45baef941abc7d3ab32"), // QuickSwap
        SUSHI_V2,
      ],
    },
  ],
  [
    8453,
    {
      wrappedNative: "0x4200000000000000000000000000000000000006",
      quotes: [
        ether("0x4200000000000000000000000000000000000006"),
        dollars("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"), // USDC
      ],
      factories: [
        uniswapV3("0x33128a8fc17869897dce68ed026d694621f6fdfd"),
        uniswapV2("0x8909dc15e40173ff4699343b6eb8132c65e18ec6"),
        { kind: "solidly", factory: "0x420dd381b31aef6683db6b902084cb0ffece40da" }, // Aerodrome
        slipstream("0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a"), // Aerodrome
        PANCAKE_V3,
      ],
    },
  ],
  [
    42161,
    {
      wrappedNative: "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
      quotes: [
        ether("0x82af49447d8a07e3bd95bd0d56f35241523fbab1"),
        dollars("0xaf88d065e77c8cc2239327c5edb3a432268e5831"), // USDC
        dollars("0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"), // USDT
        dollars("0xff970a61a04b1ca14834a43f5de4533ebddb5cc8"), // USDC.e
      ],
      factories: [UNISWAP_V3, uniswapV2("0xf1d7cc64fb4452f05c498126312ebe29f30fbcf9"), SUSHI_V2, PANCAKE_V3],
    },
  ],
]);
