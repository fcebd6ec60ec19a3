// Chainlink's dollar feeds on Optimism, from the directory in @aave-dao/aave-address-book: each for exactly that asset.
import { type ChainPriceFeeds, dailyFeed, twentyMinuteFeed } from "./price-feed.ts";

export const optimismFeeds: ChainPriceFeeds = {
  native: twentyMinuteFeed("0x13e3ee699d1909e989722e753853ae30b17e08c5"),
  sequencer: "0x371ead81c9102c9bf4874a9075ffff170f2ee389",
  tokens: {
    "0x4200000000000000000000000000000000000006": twentyMinuteFeed(
      "0x13e3ee699d1909e989722e753853ae30b17e08c5",
    ), // WETH
    "0x0b2c639c533813f4aa9d7837caf62653d097ff85": dailyFeed("0x16a9fa2fda030272ce99b29cf780dfa30361e0f3"), // USDC
    "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58": dailyFeed("0xecef79e109e997bca29c1c0897ec9d7b03647f5e"), // USDT
    "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1": dailyFeed("0x8dba75e83da73cc766a7e5a0ee71f656bab470d6"), // DAI
    "0x68f180fcce6836688e9084f035309e29bf0a2095": dailyFeed("0x718a5788b89454aae3a028ae9c111a29be6c2a6f"), // WBTC
    "0x4200000000000000000000000000000000000042": dailyFeed("0x0d276fc14719f9292d5c1ea2198673d1f4269246"), // OP
    "0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6": dailyFeed("0xcc232dcfaae6354ce191bd574108c1ad03f86450"), // LINK
    "0x76fb31fb4af56892a25e32cfc43de717950c9278": dailyFeed("0x338ed6787f463394d24813b297401b9f05a8c9d1"), // AAVE
    "0x1f32b1c2345538c0c6f582fcb022739c4a194ebb": dailyFeed("0x698b585cbc4407e2d54aa898b2600b53c68958f7"), // wstETH
    "0x6fd9d7ad17242c41f7131d257212c54a0e816691": dailyFeed("0x11429ee838cc01071402f21c219870cbac0a59a0"), // UNI
    "0x8700daec35af8ff88c16bdf0418774cb3d7599b4": dailyFeed("0x2fcf37343e916eaed1f1ddaaf84458a359b53877"), // SNX
    "0xfdb794692724153d1488ccdbe0c56c252596735f": dailyFeed("0x221618871470f78d8a3391d35b77dfb3c0fbc383"), // LDO
    "0x9560e827af36c94d2ac33a39bce1fe78631088db": dailyFeed("0x0f2ed59657e391746c1a097bda98f2abb94b1120"), // VELO
    "0xdc6ff44d5d932cbd77b52e5612ba0529dc6226f1": dailyFeed("0x4e1c6b168dcfd7758bc2ab9d2865f1895813d236"), // WLD
    "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819": dailyFeed("0x9dfc79aaeb5bb0f96c6e9402671981cdfc424052"), // LUSD
  },
};
