// Chainlink's dollar feeds on Optimism, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = { feed: "0x13e3ee699d1909e989722e753853ae30b17e08c5", heartbeatSeconds: 1_200 };

// biome-ignore format: one feed a line
export const optimismFeeds: ChainPriceFeeds = {
  native,
  wrappedNative: "0x4200000000000000000000000000000000000006",
  sequencer: "0x371ead81c9102c9bf4874a9075ffff170f2ee389",
  tokens: {
    "0x4200000000000000000000000000000000000006": native, // WETH
    "0x0b2c639c533813f4aa9d7837caf62653d097ff85": { feed: "0x16a9fa2fda030272ce99b29cf780dfa30361e0f3", heartbeatSeconds: 86_400 }, // USDC
    "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58": { feed: "0xecef79e109e997bca29c1c0897ec9d7b03647f5e", heartbeatSeconds: 86_400 }, // USDT
    "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1": { feed: "0x8dba75e83da73cc766a7e5a0ee71f656bab470d6", heartbeatSeconds: 86_400 }, // DAI
    "0x68f180fcce6836688e9084f035309e29bf0a2095": { feed: "0x718a5788b89454aae3a028ae9c111a29be6c2a6f", heartbeatSeconds: 1_200 }, // WBTC
    "0x4200000000000000000000000000000000000042": { feed: "0x0d276fc14719f9292d5c1ea2198673d1f4269246", heartbeatSeconds: 1_200 }, // OP
    "0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6": { feed: "0xcc232dcfaae6354ce191bd574108c1ad03f86450", heartbeatSeconds: 1_200 }, // LINK
    "0x76fb31fb4af56892a25e32cfc43de717950c9278": { feed: "0x338ed6787f463394d24813b297401b9f05a8c9d1", heartbeatSeconds: 1_200 }, // AAVE
    "0x1f32b1c2345538c0c6f582fcb022739c4a194ebb": { feed: "0x698b585cbc4407e2d54aa898b2600b53c68958f7", heartbeatSeconds: 86_400 }, // wstETH
    "0x6fd9d7ad17242c41f7131d257212c54a0e816691": { feed: "0x11429ee838cc01071402f21c219870cbac0a59a0", heartbeatSeconds: 1_200 }, // UNI
    "0x8700daec35af8ff88c16bdf0418774cb3d7599b4": { feed: "0x2fcf37343e916eaed1f1ddaaf84458a359b53877", heartbeatSeconds: 1_200 }, // SNX
    "0xfdb794692724153d1488ccdbe0c56c252596735f": { feed: "0x221618871470f78d8a3391d35b77dfb3c0fbc383", heartbeatSeconds: 86_400 }, // LDO
    "0x9560e827af36c94d2ac33a39bce1fe78631088db": { feed: "0x0f2ed59657e391746c1a097bda98f2abb94b1120", heartbeatSeconds: 86_400 }, // VELO
    "0xdc6ff44d5d932cbd77b52e5612ba0529dc6226f1": { feed: "0x4e1c6b168dcfd7758bc2ab9d2865f1895813d236", heartbeatSeconds: 86_400 }, // WLD
    "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819": { feed: "0x9dfc79aaeb5bb0f96c6e9402671981cdfc424052", heartbeatSeconds: 86_400 }, // LUSD
    "0x0994206dfe8de6ec6920ff4d779b0d950605fb53": { feed: "0xbd92c6c284271c227a1e0bf1786f468b539f51d9", heartbeatSeconds: 1_200 }, // CRV
    "0xbc7b1ff1c6989f006a1185318ed4e7b5796e66e1": { feed: "0x58f23f80bf389db1af9e3aa8c59679806749a8a4", heartbeatSeconds: 86_400 }, // PENDLE
    "0xc1c167cc44f7923cd0062c4370df962f9ddb16f5": { feed: "0x64ecf089a6594be781908d5a26fc8fa6cb08a2c7", heartbeatSeconds: 86_400 }, // PEPE
    "0x3eaeb77b03dbc0f6321ae1b72b2e9adb0f60112b": { feed: "0x72155d46fd9f03af1739637f9e7db8a87c40a730", heartbeatSeconds: 86_400 }, // SUSHI
    "0x9046d36440290ffde54fe0dd84db8b1cfee9107b": { feed: "0x5cdc797accbf57ee2363fed9701262abc87a232e", heartbeatSeconds: 86_400 }, // YFI
  },
  directory: {
    repository: "github.com/euler-xyz/oracle-checks",
    commit: "8af310f1da811769953d93ea6ef41fa9f2827000",
    date: "2026-04-22",
  },
};
