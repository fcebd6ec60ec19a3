// Chainlink's dollar feeds on Polygon, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = { feed: "0xab594600376ec9fd91f8e885dadf0ce036862de0", heartbeatSeconds: 27 };

// biome-ignore format: one feed a line
export const polygonFeeds: ChainPriceFeeds = {
  native,
  wrappedNative: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
  sequencer: null,
  tokens: {
    "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270": native, // WPOL
    "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619": { feed: "0xf9680d99d6c9589e2a93a78a04a279e509205945", heartbeatSeconds: 27 }, // WETH
    "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359": { feed: "0xfe4a8cc5b5b2366c1b58bea3858e81843581b2f7", heartbeatSeconds: 27 }, // USDC
    "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063": { feed: "0x4746dec9e833a82ec7c2c1356372ccf2cfcd2f3d", heartbeatSeconds: 27 }, // DAI
    "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6": { feed: "0xde31f8bfbd8c84b5360cfacca3539b938dd78ae6", heartbeatSeconds: 300 }, // WBTC
    "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39": { feed: "0xd9ffdb71ebe7496cc440152d43986aae0ab76665", heartbeatSeconds: 27 }, // LINK
    "0xd6df932a45c0f255f85145f286ea0b292b21c90b": { feed: "0x72484b12719e23115761d5da1646945632979bb6", heartbeatSeconds: 27 }, // AAVE
    "0xb33eaad8d922b1083446dc23f610c2567fb5180f": { feed: "0xdf0fb4e4f928d2dcb76f438575fdd8682386e13c", heartbeatSeconds: 27 }, // UNI
    "0x172370d5cd63279efa6d502dab29171933a610af": { feed: "0x336584c8e6dc19637a5b36206b1c79923111b405", heartbeatSeconds: 300 }, // CRV
    "0x0b3f868e0be5597d5db7feb59e1cadbb0fdda50a": { feed: "0x49b0c695039243bbfeb8ecd054eb70061fd54aa0", heartbeatSeconds: 86_400 }, // SUSHI
    "0x385eeac5cb85a38a9a07a70c73e0a3271cfb54a7": { feed: "0xdd229ce42f11d8ee7fff29bdb71c7b81352e11be", heartbeatSeconds: 86_400 }, // GHST
    "0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3": { feed: "0xd106b538f2a868c28ca1ec7e298c3325e0251d66", heartbeatSeconds: 86_400 }, // BAL
    "0xb7b31a6bc18e48888545ce79e83e06003be70930": { feed: "0x2ac3f3bfac8fc9094bc3f0f9041a51375235b992", heartbeatSeconds: 86_400 }, // APE
    "0x3cef98bb43d732e2f285ee605a8158cde967d219": { feed: "0x2346ce62bd732c62618944e51cbfa09d985d86d2", heartbeatSeconds: 27 }, // BAT
    "0x8505b9d2254a7ae468c0e9dd10ccea3a837aef5c": { feed: "0x2a8758b7257102461bc958279054e372c2b1bde6", heartbeatSeconds: 27 }, // COMP
    "0x5fe2b58c013d7601147dcdd68c143a77499f5531": { feed: "0x3fabbfb300b1e2d7c9b84512fe9d30aedf24c410", heartbeatSeconds: 27 }, // GRT
    "0xa1c57f48f0deb89f569dfbe6e2b7f46d33606fd4": { feed: "0xa1cbf3fe43bc3501e3fc4b573e822c70e76a7512", heartbeatSeconds: 27 }, // MANA
    "0xbbba073c31bf03b8acf7c28ef0738decf3695683": { feed: "0x3d49406edd4d52fb7ffd25485f32e073b529c924", heartbeatSeconds: 86_400 }, // SAND
    "0x50b728d8d964fd00c2d0aad81718b71311fef68a": { feed: "0xbf90a5d9b6ee9019028dbfc2a9e50056d5252894", heartbeatSeconds: 27 }, // SNX
    "0xc2132d05d31c914a87c6611c10748aeb04b58e8f": { feed: "0x0a6513e40db6eb1b165753ad52e80663aea50545", heartbeatSeconds: 27 }, // USDT
  },
  directory: {
    repository: "github.com/euler-xyz/oracle-checks",
    commit: "6873e6d239a229dd8de94c70fcc64254b1e53232",
    date: "2026-08-19",
  },
};
