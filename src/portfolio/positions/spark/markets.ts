// SparkLend by chain id, from sparkdotfi/spark-address-registry at 5348de2 of 2026-08-19.
import type { AaveMarket } from "../aave-v3/market.ts";

const sparkLend: AaveMarket = {
  name: "SparkLend",
  pool: "0xc13e21b648a5ee794902342038ff3adab66be987",
  oracle: "0x8105f69d9c41644c6a0803fda7d03aa70996cfd9",
  // biome-ignore format: one reserve a line
  reserves: [
    { underlying: "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", aToken: "0xb3973d459df38ae57797811f2a1fd061da1bc123", debtToken: "0x661fe667d2103eb52d3632a3eb2cabd123f27938" }, // CBBTC
    { underlying: "0x6b175474e89094c44da98b954eedeac495271d0f", aToken: "0x4dedf26112b3ec8ec46e7e31ea5e123490b05b8b", debtToken: "0xf705d2b7e92b3f38e6ae7afadaa2fee110fe5914" }, // DAI
    { underlying: "0xbf5495efe5db9ce00f80364c8b423567e58d2110", aToken: "0xb131cd463d83782d4de33e00e35ef034f0869ba1", debtToken: "0xb0b14dd477e6159b4f3f210cf45f0954f57c0fab" }, // EZETH
    { underlying: "0x6810e776880c02933d47db1b9fc05908e5386b96", aToken: "0x7b481acc9fdaddc9af2cbea1ff2342cb1733e50f", debtToken: "0x57a2957651da467fcd4104d749f2f3684784c25a" }, // GNO
    { underlying: "0x8236a87084f8b84306f72007f36f2618a5634494", aToken: "0xa9d4ecebd48c282a70cfd3c469d6c8f178a5738e", debtToken: "0x096bddfee63f44a97cc6d2945539ee7c8f94637d" }, // LBTC
    { underlying: "0x6c3ea9036406852006290770bedfcaba0e23a0e8", aToken: "0x779224df1c756b4edd899854f32a53e8c2b2ce5d", debtToken: "0x3357d2db7763d6cd3a99f0763ebf87e0096d95f9" }, // PYUSD
    { underlying: "0xae78736cd615f374d3085123a210448e74fc6393", aToken: "0x9985df20d7e9103ecbceb16a84956434b6f06ae8", debtToken: "0xba2c8f2ea5b56690bfb8b709438f049e5dd76b96" }, // RETH
    { underlying: "0xa1290d69c65a6fe4df752f95823fae25cb99e5a7", aToken: "0x856f1ea78361140834fdcd0db0b08079e4a45062", debtToken: "0xc528f0c91cfae4fd86a68f6dfd4d7284707bec68" }, // RSETH
    { underlying: "0x83f20f44975d03b1b09e64809b757c47f942beea", aToken: "0x78f897f0fe2d3b5690ebae7f19862deacedf10a7", debtToken: "0xabc57081c04d921388240393ec4088aa47c6832b" }, // SDAI
    { underlying: "0xa3931d71877c0e7a3148cb7eb4463524fec27fbd", aToken: "0x6715bc100a183cc65502f05845b589c1919ca3d3", debtToken: "0x4e89b83f426fed3f2ef7bb2d7eb5b53e288e1a13" }, // SUSDS
    { underlying: "0x18084fba666a33d37592fa2633fd49a74dd93a88", aToken: "0xce6ca9cdce00a2b0c0d1dac93894f4bd2c960567", debtToken: "0x764591dc9ba21c1b92049331b80b6e2a2acf8b17" }, // TBTC
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0x377c3bd93f2a2984e1e7be6a5c22c525ed4a4815", debtToken: "0x7b70d04099cb9cfb1db7b6820badafb4c5c70a67" }, // USDC
    { underlying: "0xdc035d45d973e3ec169d2276ddab16f1e407384f", aToken: "0xc02ab1a5eaa8d1b114ef786d9bde108cd4364359", debtToken: "0x8c147debea24fb98ade8dda4bf142992928b449e" }, // USDS
    { underlying: "0xdac17f958d2ee523a2206206994597c13d831ec7", aToken: "0xe7df13b8e3d6740fe17cbe928c7334243d86c92f", debtToken: "0x529b6158d1d2992e3129f7c69e81a7c677dc3b12" }, // USDT
    { underlying: "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", aToken: "0x4197ba364ae6698015ae5c1468f54087602715b2", debtToken: "0xf6fee3a8ac8040c3d6d81d9a4a168516ec9b51d2" }, // WBTC
    { underlying: "0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee", aToken: "0x3cfd5c0d4acaa8faee335842e4f31159fc76b008", debtToken: "0xc2bd6d2fee70a0a73a33795bdbee0368aef5c766" }, // WEETH
    { underlying: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", aToken: "0x59cd1c87501baa753d0b5b5ab5d8416a45cd71db", debtToken: "0x2e7576042566f8d6990e07a1b61ad1efd86ae70d" }, // WETH
    { underlying: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0", aToken: "0x12b54025c112aa61face2cdb7118740875a566e9", debtToken: "0xd5c3e3b566a42a6110513ac7670c1a86d76e13e6" }, // WSTETH
  ],
};

export const SPARK_MARKETS: ReadonlyMap<number, readonly AaveMarket[]> = new Map([[1, [sparkLend]]]);
