// Aave v3 Arbitrum, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveArbitrum: AaveMarket = {
  name: "Aave v3 Arbitrum",
  pool: "0x794a61358d6845594f94dc1db02a252b5b4814ad",
  oracle: "0xb56c2f0b653b2e0b10c9b928c8580ac5df02c7c7",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", aToken: "0x82e64f49ed5ec1bc6e43dad4fc8af9bb3a2312ee", debtToken: "0x8619d80fb0141ba7f184cbf22fd724116d9f7ffc" }, // DAI
    { underlying: "0xf97f4df75117a78c1a5a0dbb814af92458539fb4", aToken: "0x191c10aa4af7c30e871e70c95db0e4eb77237530", debtToken: "0x953a573793604af8d41f306feb8274190db4ae0e" }, // LINK
    { underlying: "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8", aToken: "0x625e7708f30ca75bfd92586e17077590c60eb4cd", debtToken: "0xfccf3cabbe80101232d343252614b6a3ee81c989" }, // USDC
    { underlying: "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f", aToken: "0x078f358208685046a11c85e8ad32895ded33a249", debtToken: "0x92b42c66840c7ad907b4bf74879ff3ef7c529473" }, // WBTC
    { underlying: "0x82af49447d8a07e3bd95bd0d56f35241523fbab1", aToken: "0xe50fa9b3c56ffb159cb0fca61f5c9d750e8128c8", debtToken: "0x0c84331e39d6658cd6e6b9ba04736cc4c4734351" }, // WETH
    { underlying: "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", aToken: "0x6ab707aca953edaefbc4fd23ba73294241490620", debtToken: "0xfb00ac187a8eb5afae4eace434f493eb62672df7" }, // USDT
    { underlying: "0xba5ddd1f9d7f570dc94a51479a000e3bce967196", aToken: "0xf329e36c7bf6e5e86ce2150875a84ce77f477375", debtToken: "0xe80761ea617f66f96274ea5e8c37f03960ecc679" }, // AAVE
    { underlying: "0xd22a58f79e9481d1a88e00c343885a588b34b68b", aToken: "0x6d80113e533a2c0fe82eabd35f1875dcea89ea97", debtToken: "0x4a1c3ad6ed28a636ee1751c69071f6be75deb8b8" }, // EURS
    { underlying: "0x5979d7b546e38e414f7e9822514be443a4800529", aToken: "0x513c7e3a9c69ca3e22550ef58ac1c0088e918fff", debtToken: "0x77ca01483f379e58174739308945f044e1a764dc" }, // wstETH
    { underlying: "0x3f56e0c36d275367b8c502090edf38289b3dea0d", aToken: "0xc45a479877e1e9dfe9fcd4056c699575a1045daa", debtToken: "0x34e2ed44ef7466d5f9e0b782b5c08b57475e7907" }, // MAI
    { underlying: "0xec70dcb4a1efa46b8f2d97c310c9c4790ba5ffa8", aToken: "0x8eb270e296023e9d92081fdf967ddd7878724424", debtToken: "0xce186f6cccb0c955445bb9d10c59cae488fea559" }, // rETH
    { underlying: "0x93b346b6bc2548da6a1e7d98e9a421b42541425b", aToken: "0x8ffdf2de812095b1d19cb146e4c004587c0a0692", debtToken: "0xa8669021776bc142dfca87c21b4a52595bcbb40a" }, // LUSD
    { underlying: "0xaf88d065e77c8cc2239327c5edb3a432268e5831", aToken: "0x724dc807b04555b71ed48a6896b6f41593b8c637", debtToken: "0xf611aeb5013fd2c0511c9cd55c7dc5c1140741a6" }, // USDCn
    { underlying: "0x17fc002b466eec40dae837fc4be5c67993ddbd6f", aToken: "0x38d693ce1df5aadf7bc62595a37d667ad57922e5", debtToken: "0x5d557b07776d12967914379c71a1310e917c7555" }, // FRAX
    { underlying: "0x912ce59144191c1204e64559fe8253a0e49e6548", aToken: "0x6533afac2e7bccb20dca161449a13a32d391fb00", debtToken: "0x44705f578135cc5d703b4c9c122528c73eb87145" }, // ARB
    { underlying: "0x35751007a407ca6feffe80b3cb397736d2cf4dbe", aToken: "0x8437d7c167dfb82ed4cb79cd44b7a32a1dd95c77", debtToken: "0x3ca5fa07689f266e907439afd1fbb59c44fe12f6" }, // weETH
    { underlying: "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33", aToken: "0xebe517846d0f36eced99c735cbf6131e1feb775d", debtToken: "0x18248226c16bf76c032817854e7c83a2113b4f06" }, // GHO
    { underlying: "0x2416092f143378750bb29b79ed961ab195cceea5", aToken: "0xea1132120ddcdda2f119e99fa7a27a0d036f7ac9", debtToken: "0x1ffd28689da7d0148ff0fcb669e9f9f0fc13a219" }, // ezETH
    { underlying: "0x4186bfc76e2e237523cbc30fd220fe055156b41f", aToken: "0x6b030ff3fb9956b1b69f475b77ae0d3cf2cc5afa", debtToken: "0x80ca0d8c38d2e2bcbab66aa1648bd1c7160500fe" }, // rsETH
    { underlying: "0x6c84a8f1c29108f47a79964b5fe888d4f4d0de40", aToken: "0x62fc96b27a510cf4977b59ff952dc32378cc221d", debtToken: "0xb5b46f918c2923fc7f26db76e8a6a6e9c4347cf9" }, // tBTC
  ],
};
