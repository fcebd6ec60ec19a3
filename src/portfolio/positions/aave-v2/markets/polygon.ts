// Aave v2 Polygon, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../../aave-v3/market.ts";

export const aaveV2Polygon: AaveMarket = {
  name: "Aave v2 Polygon",
  pool: "0x8dff5e27ea6b7ac08ebfdf9eb090f32ee9a30fcf",
  oracle: "0x0229f777b0fab107f9591a41d5f02e4e98db6f2d",
  quote: "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063", aToken: "0x27f8d03b3a2196956ed754badc28d73be8830a6e", debtToken: "0x75c4d1fb84429023170086f06e682dcbbf537b7d" }, // DAI
    { underlying: "0x2791bca1f2de4661ed88a30c99a7a9449aa84174", aToken: "0x1a13f4ca1d028320a707d99520abfefca3998b7f", debtToken: "0x248960a9d75edfa3de94f7193eae3161eb349a12" }, // USDC
    { underlying: "0xc2132d05d31c914a87c6611c10748aeb04b58e8f", aToken: "0x60d55f02a771d515e077c9c2403a1ef324885cec", debtToken: "0x8038857fd47108a07d1f6bf652ef1cbec279a2f3" }, // USDT0
    { underlying: "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6", aToken: "0x5c2ed810328349100a66b82b78a1791b101c9d61", debtToken: "0xf664f50631a6f0d72ecdaa0e49b0c019fa72a8dc" }, // WBTC
    { underlying: "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619", aToken: "0x28424507fefb6f7f8e9d3860f56504e4e5f5f390", debtToken: "0xede17e9d79fc6f9ff9250d9eefbdb88cc18038b5" }, // WETH
    { underlying: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270", aToken: "0x8df3aad3a84da6b69a4da8aec3ea40d9091b2ac4", debtToken: "0x59e8e9100cbfcbcbadf86b9279fa61526bbb8765" }, // WPOL
    { underlying: "0xd6df932a45c0f255f85145f286ea0b292b21c90b", aToken: "0x1d2a0e5ec8e5bbdca5cb219e649b565d8e5c3360", debtToken: "0x1c313e9d0d826662f5ce692134d938656f681350" }, // AAVE
    { underlying: "0x385eeac5cb85a38a9a07a70c73e0a3271cfb54a7", aToken: "0x080b5bf8f360f624628e0fb961f4e67c9e3c7cf1", debtToken: "0x36e988a38542c3482013bb54ee46ac1fb1efedcd" }, // GHST
    { underlying: "0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3", aToken: "0xc4195d4060daeac44058ed668aa5efec50d77ff6", debtToken: "0x773e0e32e7b6a00b7ca9daa85dfba9d61b7f2574" }, // BAL
    { underlying: "0x85955046df4668e1dd369d2de9f3aeb98dd2a369", aToken: "0x81fb82aacb4abe262fc57f06fd4c1d2de347d7b1", debtToken: "0x43150aa0b7e19293d935a412c8607f9172d3d3f3" }, // DPI
    { underlying: "0x172370d5cd63279efa6d502dab29171933a610af", aToken: "0x3df8f92b7e798820ddcca2ebea7babda2c90c4ad", debtToken: "0x780bbcbcda2cdb0d2c61fd9bc68c9046b18f3229" }, // CRV
    { underlying: "0x0b3f868e0be5597d5db7feb59e1cadbb0fdda50a", aToken: "0x21ec9431b5b55c5339eb1ae7582763087f98fac2", debtToken: "0x9cb9feafa73bf392c905eebf5669ad3d073c3dfc" }, // SUSHI
    { underlying: "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39", aToken: "0x0ca2e42e8c21954af73bc9af1213e4e81d6a669a", debtToken: "0xcc71e4a38c974e19bdbc6c0c19b63b8520b1bb09" }, // LINK
  ],
};
