// Chainlink's dollar feeds on Polygon, from the directory in @aave-dao/aave-address-book: each for exactly that asset.
import { type ChainPriceFeeds, dailyFeed, hourlyFeed } from "./price-feed.ts";

export const polygonFeeds: ChainPriceFeeds = {
  native: hourlyFeed("0xab594600376ec9fd91f8e885dadf0ce036862de0"),
  sequencer: null,
  tokens: {
    "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270": hourlyFeed("0xab594600376ec9fd91f8e885dadf0ce036862de0"), // WPOL
    "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619": hourlyFeed("0xf9680d99d6c9589e2a93a78a04a279e509205945"), // WETH
    "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359": dailyFeed("0xfe4a8cc5b5b2366c1b58bea3858e81843581b2f7"), // USDC
    "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063": dailyFeed("0x4746dec9e833a82ec7c2c1356372ccf2cfcd2f3d"), // DAI
    "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6": dailyFeed("0xde31f8bfbd8c84b5360cfacca3539b938dd78ae6"), // WBTC
    "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39": dailyFeed("0xd9ffdb71ebe7496cc440152d43986aae0ab76665"), // LINK
    "0xd6df932a45c0f255f85145f286ea0b292b21c90b": dailyFeed("0x72484b12719e23115761d5da1646945632979bb6"), // AAVE
    "0xb33eaad8d922b1083446dc23f610c2567fb5180f": dailyFeed("0xdf0fb4e4f928d2dcb76f438575fdd8682386e13c"), // UNI
    "0x172370d5cd63279efa6d502dab29171933a610af": dailyFeed("0x336584c8e6dc19637a5b36206b1c79923111b405"), // CRV
    "0x0b3f868e0be5597d5db7feb59e1cadbb0fdda50a": dailyFeed("0x49b0c695039243bbfeb8ecd054eb70061fd54aa0"), // SUSHI
    "0x385eeac5cb85a38a9a07a70c73e0a3271cfb54a7": dailyFeed("0xdd229ce42f11d8ee7fff29bdb71c7b81352e11be"), // GHST
    "0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3": dailyFeed("0xd106b538f2a868c28ca1ec7e298c3325e0251d66"), // BAL
  },
};
