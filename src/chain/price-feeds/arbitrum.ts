// Chainlink's dollar feeds on Arbitrum, from the directory in @aave-dao/aave-address-book: each for exactly that asset.
import { type ChainPriceFeeds, dailyFeed } from "./price-feed.ts";

export const arbitrumFeeds: ChainPriceFeeds = {
  native: dailyFeed("0x639fe6ab55c921f74e7fac1ee960c0b6293ba612"),
  sequencer: "0xfdb631f5ee196f0ed6faa767959853a9f217697d",
  tokens: {
    "0x82af49447d8a07e3bd95bd0d56f35241523fbab1": dailyFeed("0x639fe6ab55c921f74e7fac1ee960c0b6293ba612"), // WETH
    "0xaf88d065e77c8cc2239327c5edb3a432268e5831": dailyFeed("0x50834f3163758fcc1df9973b6e91f0f0f0434ad3"), // USDC
    "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1": dailyFeed("0xc5c8e77b397e531b8ec06bfb0048328b30e9ecfb"), // DAI
    "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f": dailyFeed("0xd0c7101eacbb49f3decccc166d238410d6d46d57"), // WBTC
    "0x6c84a8f1c29108f47a79964b5fe888d4f4d0de40": dailyFeed("0xe808488e8627f6531ba79a13a9e0271b39abeb1c"), // tBTC
    "0x912ce59144191c1204e64559fe8253a0e49e6548": dailyFeed("0xb2a824043730fe05f3da2efafa1cbbe83fa548d6"), // ARB
    "0xf97f4df75117a78c1a5a0dbb814af92458539fb4": dailyFeed("0x86e53cf1b870786351da77a57575e79cb55812cb"), // LINK
    "0xba5ddd1f9d7f570dc94a51479a000e3bce967196": dailyFeed("0xad1d5344aade45f43e596773bcc4c423eabdd034"), // AAVE
    "0xfa7f8980b0f1e64a2062791cc3b0871572f1f7f0": dailyFeed("0x9c917083fdb403ab5adbec26ee294f6ecada2720"), // UNI
    "0xfc5a1a6eb076a2c7ad06ed22c90d7e710e35ad0a": dailyFeed("0xdb98056fecfff59d032ab628337a4887110df3db"), // GMX
    "0x0c880f6761f1af8d9aa9c466984b80dab9a8c9e8": dailyFeed("0x66853e19d73c0f9301fe099c324a1e9726953433"), // PENDLE
    "0x93b346b6bc2548da6a1e7d98e9a421b42541425b": dailyFeed("0x0411d28c94d85a36bc72cb0f875dfa8371d8ffff"), // LUSD
    "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33": dailyFeed("0x3c786e934f23375ca345c9b8d5ad54838796e8e7"), // GHO
  },
};
