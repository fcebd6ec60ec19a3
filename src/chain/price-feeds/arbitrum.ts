// Chainlink's dollar feeds on Arbitrum, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = { feed: "0x639fe6ab55c921f74e7fac1ee960c0b6293ba612", heartbeatSeconds: 1_755 };

// biome-ignore format: one feed a line
export const arbitrumFeeds: ChainPriceFeeds = {
  native,
  wrappedNative: "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
  sequencer: "0xfdb631f5ee196f0ed6faa767959853a9f217697d",
  tokens: {
    "0x82af49447d8a07e3bd95bd0d56f35241523fbab1": native, // WETH
    "0xaf88d065e77c8cc2239327c5edb3a432268e5831": { feed: "0x50834f3163758fcc1df9973b6e91f0f0f0434ad3", heartbeatSeconds: 255 }, // USDC
    "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1": { feed: "0xc5c8e77b397e531b8ec06bfb0048328b30e9ecfb", heartbeatSeconds: 86_400 }, // DAI
    "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f": { feed: "0xd0c7101eacbb49f3decccc166d238410d6d46d57", heartbeatSeconds: 86_400 }, // WBTC
    "0x6c84a8f1c29108f47a79964b5fe888d4f4d0de40": { feed: "0xe808488e8627f6531ba79a13a9e0271b39abeb1c", heartbeatSeconds: 86_400 }, // tBTC
    "0x912ce59144191c1204e64559fe8253a0e49e6548": { feed: "0xb2a824043730fe05f3da2efafa1cbbe83fa548d6", heartbeatSeconds: 86_400 }, // ARB
    "0xf97f4df75117a78c1a5a0dbb814af92458539fb4": { feed: "0x86e53cf1b870786351da77a57575e79cb55812cb", heartbeatSeconds: 1_755 }, // LINK
    "0xba5ddd1f9d7f570dc94a51479a000e3bce967196": { feed: "0xad1d5344aade45f43e596773bcc4c423eabdd034", heartbeatSeconds: 86_400 }, // AAVE
    "0xfa7f8980b0f1e64a2062791cc3b0871572f1f7f0": { feed: "0x9c917083fdb403ab5adbec26ee294f6ecada2720", heartbeatSeconds: 86_400 }, // UNI
    "0xfc5a1a6eb076a2c7ad06ed22c90d7e710e35ad0a": { feed: "0xdb98056fecfff59d032ab628337a4887110df3db", heartbeatSeconds: 86_400 }, // GMX
    "0x0c880f6761f1af8d9aa9c466984b80dab9a8c9e8": { feed: "0x66853e19d73c0f9301fe099c324a1e9726953433", heartbeatSeconds: 86_400 }, // PENDLE
    "0x93b346b6bc2548da6a1e7d98e9a421b42541425b": { feed: "0x0411d28c94d85a36bc72cb0f875dfa8371d8ffff", heartbeatSeconds: 86_400 }, // LUSD
    "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33": { feed: "0x3c786e934f23375ca345c9b8d5ad54838796e8e7", heartbeatSeconds: 86_400 }, // GHO
    "0x6314c31a7a1652ce482cffe247e9cb7c3f4bb9af": { feed: "0x4bc735ef24bf286983024cad5d03f0738865aaef", heartbeatSeconds: 86_400 }, // 1INCH
    "0x7f9fbf9bdd3f4105c478b996b648fe6e828a1e98": { feed: "0x221912ce795669f628c51c69b7d0873eda9c03bb", heartbeatSeconds: 86_400 }, // APE
    "0xc87b37a581ec3257b734886d9d3a581f5a9d056c": { feed: "0x920e09a98f83b82701207ba7e433a5b53ecb888a", heartbeatSeconds: 86_400 }, // ATH
    "0x23ee2343b892b1bb63503a4fabc840e0e2c6810f": { feed: "0x84e8237cc1418ea1b4a1e0c3e7f48c3a5fbc81af", heartbeatSeconds: 86_400 }, // AXL
    "0x1b896893dfc86bb67cf57767298b9073d2c1ba2c": { feed: "0x256654437f1ada8057684b18d742efd14034c400", heartbeatSeconds: 255 }, // CAKE
    "0x354a6da3fcde098f8389cad84b0182725c6c91de": { feed: "0xe7c53ffd03eb6cef7d208bc4c13446c76d1e5884", heartbeatSeconds: 3_600 }, // COMP
    "0x11cdb42b0eb46d95f990bedd4695a6e3fa034978": { feed: "0xaebda2c976cfd1ee1977eac079b4382acb849325", heartbeatSeconds: 3_600 }, // CRV
    "0x498bf2b1e120fed3ad3d42ea2165e9b73f99c1e5": { feed: "0x0a32255dd4bb6177c994baac73e0606fdd568f66", heartbeatSeconds: 86_400 }, // crvUSD
    "0x58538e6a46e07434d7e7375bc268d3cb839c0133": { feed: "0x9ee96caa9972c801058caa8e23419fc6516fbf7e", heartbeatSeconds: 86_400 }, // ENA
    "0x17fc002b466eec40dae837fc4be5c67993ddbd6f": { feed: "0x0809e3d38d1b4214958faf06d8b1b1a2b73f2ab8", heartbeatSeconds: 86_400 }, // FRAX
    "0x18c11fd286c5ec11c3b683caa813b77f5163a122": { feed: "0xe89e98ce4e19071e59ed4780e0598b541ce76486", heartbeatSeconds: 86_400 }, // GNS
    "0x9623063377ad1b27544c965ccd7342f7ea7e88c7": { feed: "0x0f38d86fcef4955b705f35c9e41d1a16e0637c73", heartbeatSeconds: 86_400 }, // GRT
    "0x13ad51ed4f1b7e9dc168d8a00cb3f4ddd85efa60": { feed: "0xa43a34030088e6510feccfb77e88ee5e7ed0fe64", heartbeatSeconds: 86_400 }, // LDO
    "0x539bde0d7dbd336b79148aa742883198bbf60342": { feed: "0x47e55ccec6582838e173f252d08afd8116c2202d", heartbeatSeconds: 86_400 }, // MAGIC
    "0x8f5c1a99b1df736ad685006cb6adca7b7ae4b514": { feed: "0xd07de6e37a011ccafd375d7eb130205e0fa24d69", heartbeatSeconds: 86_400 }, // MLN
    "0x25d887ce7a35172c62febfd67a1856f20faebb00": { feed: "0x02ded5a7edda750e3eb240b54437a54d57b74dbe", heartbeatSeconds: 3_600 }, // PEPE
    "0x3082cc23568ea640225c2467653db90e9250aaa0": { feed: "0x20d0fcab0ecfd078b036b6caf1fac69a6453b352", heartbeatSeconds: 86_400 }, // RDNT
    "0xca5ca9083702c56b481d1eec86f1776fdbd2e594": { feed: "0xcff9349ec6d027f20fc9360117fef4a1ad38b488", heartbeatSeconds: 86_400 }, // RSR
    "0x3e6648c5a70a150a88bce65f4ad4d506fe15d2af": { feed: "0x383b3624478124697bef675f07ca37570b73992f", heartbeatSeconds: 86_400 }, // SPELL
    "0xd4d42f0b6def4ce0383636770ef773390d85c61a": { feed: "0xb2a8ba74cbca38508ba1632761b56c897060147c", heartbeatSeconds: 86_400 }, // SUSHI
    "0x211cc4dd073734da055fbf44a2b4667d5e5fe5d2": { feed: "0xf2215b9c35b1697b5f47e407c917a40d055e68d7", heartbeatSeconds: 86_400 }, // sUSDe
    "0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34": { feed: "0x88ac7bca36567525a866138f03a6f6844868e0bc", heartbeatSeconds: 86_400 }, // USDe
    "0x6491c05a82219b8d1479057361ff1654749b876b": { feed: "0x37833e5b3fbbed4d613a3e0c354ef91a42b81eeb", heartbeatSeconds: 86_400 }, // USDS
    "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9": { feed: "0x3f3f5df88dc9f13eac63df89ec16ef6e7e25dde7", heartbeatSeconds: 255 }, // USDT
    "0xcafcd85d8ca7ad1e1c6f82f651fa15e33aefd07b": { feed: "0x5e2b5c5c07cca3437c4d724225bb42c7e55d1597", heartbeatSeconds: 86_400 }, // WOO
    "0x82e3a8f066a6989666b031d916c43672085b1582": { feed: "0x745ab5b69e01e2be1104ca84937bb71f96f5fb21", heartbeatSeconds: 86_400 }, // YFI
    "0x6985884c4392d348587b19cb9eaaf157f13271cd": { feed: "0x1940fed49cdbc397941f2d336eb4994d599e568b", heartbeatSeconds: 86_400 }, // ZRO
  },
  directory: {
    repository: "github.com/euler-xyz/oracle-checks",
    commit: "ad16c6237ced2f4851b4317f30408e64de1a205d",
    date: "2026-08-21",
  },
};
