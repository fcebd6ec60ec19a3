// Aave v3 Polygon, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aavePolygon: AaveMarket = {
  name: "Aave v3 Polygon",
  pool: "0x794a61358d6845594f94dc1db02a252b5b4814ad",
  oracle: "0xb023e699f5a33916ea823a16485e259257ca8bd1",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063", aToken: "0x82e64f49ed5ec1bc6e43dad4fc8af9bb3a2312ee", debtToken: "0x8619d80fb0141ba7f184cbf22fd724116d9f7ffc" }, // DAI
    { underlying: "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39", aToken: "0x191c10aa4af7c30e871e70c95db0e4eb77237530", debtToken: "0x953a573793604af8d41f306feb8274190db4ae0e" }, // LINK
    { underlying: "0x2791bca1f2de4661ed88a30c99a7a9449aa84174", aToken: "0x625e7708f30ca75bfd92586e17077590c60eb4cd", debtToken: "0xfccf3cabbe80101232d343252614b6a3ee81c989" }, // USDC
    { underlying: "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6", aToken: "0x078f358208685046a11c85e8ad32895ded33a249", debtToken: "0x92b42c66840c7ad907b4bf74879ff3ef7c529473" }, // WBTC
    { underlying: "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619", aToken: "0xe50fa9b3c56ffb159cb0fca61f5c9d750e8128c8", debtToken: "0x0c84331e39d6658cd6e6b9ba04736cc4c4734351" }, // WETH
    { underlying: "0xc2132d05d31c914a87c6611c10748aeb04b58e8f", aToken: "0x6ab707aca953edaefbc4fd23ba73294241490620", debtToken: "0xfb00ac187a8eb5afae4eace434f493eb62672df7" }, // USDT0
    { underlying: "0xd6df932a45c0f255f85145f286ea0b292b21c90b", aToken: "0xf329e36c7bf6e5e86ce2150875a84ce77f477375", debtToken: "0xe80761ea617f66f96274ea5e8c37f03960ecc679" }, // AAVE
    { underlying: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270", aToken: "0x6d80113e533a2c0fe82eabd35f1875dcea89ea97", debtToken: "0x4a1c3ad6ed28a636ee1751c69071f6be75deb8b8" }, // WPOL
    { underlying: "0x172370d5cd63279efa6d502dab29171933a610af", aToken: "0x513c7e3a9c69ca3e22550ef58ac1c0088e918fff", debtToken: "0x77ca01483f379e58174739308945f044e1a764dc" }, // CRV
    { underlying: "0x0b3f868e0be5597d5db7feb59e1cadbb0fdda50a", aToken: "0xc45a479877e1e9dfe9fcd4056c699575a1045daa", debtToken: "0x34e2ed44ef7466d5f9e0b782b5c08b57475e7907" }, // SUSHI
    { underlying: "0x385eeac5cb85a38a9a07a70c73e0a3271cfb54a7", aToken: "0x8eb270e296023e9d92081fdf967ddd7878724424", debtToken: "0xce186f6cccb0c955445bb9d10c59cae488fea559" }, // GHST
    { underlying: "0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3", aToken: "0x8ffdf2de812095b1d19cb146e4c004587c0a0692", debtToken: "0xa8669021776bc142dfca87c21b4a52595bcbb40a" }, // BAL
    { underlying: "0x85955046df4668e1dd369d2de9f3aeb98dd2a369", aToken: "0x724dc807b04555b71ed48a6896b6f41593b8c637", debtToken: "0xf611aeb5013fd2c0511c9cd55c7dc5c1140741a6" }, // DPI
    { underlying: "0xe111178a87a3bff0c8d18decba5798827539ae99", aToken: "0x38d693ce1df5aadf7bc62595a37d667ad57922e5", debtToken: "0x5d557b07776d12967914379c71a1310e917c7555" }, // EURS
    { underlying: "0x4e3decbb3645551b8a19f0ea1678079fcb33fb4c", aToken: "0x6533afac2e7bccb20dca161449a13a32d391fb00", debtToken: "0x44705f578135cc5d703b4c9c122528c73eb87145" }, // jEUR
    { underlying: "0xe0b52e49357fd4daf2c15e02058dce6bc0057db4", aToken: "0x8437d7c167dfb82ed4cb79cd44b7a32a1dd95c77", debtToken: "0x3ca5fa07689f266e907439afd1fbb59c44fe12f6" }, // EURA
    { underlying: "0xa3fa99a148fa48d14ed51d610c367c61876997f1", aToken: "0xebe517846d0f36eced99c735cbf6131e1feb775d", debtToken: "0x18248226c16bf76c032817854e7c83a2113b4f06" }, // miMATIC
    { underlying: "0x3a58a54c066fdc0f2d55fc9c89f0415c92ebf3c4", aToken: "0xea1132120ddcdda2f119e99fa7a27a0d036f7ac9", debtToken: "0x6b030ff3fb9956b1b69f475b77ae0d3cf2cc5afa" }, // stMATIC
    { underlying: "0xfa68fb4628dff1028cfec22b4162fccd0d45efb6", aToken: "0x80ca0d8c38d2e2bcbab66aa1648bd1c7160500fe", debtToken: "0xb5b46f918c2923fc7f26db76e8a6a6e9c4347cf9" }, // MaticX
    { underlying: "0x03b54a6e9a984069379fae1a4fc4dbae93b3bccd", aToken: "0xf59036caebea7dc4b86638dfa2e3c97da9fccd40", debtToken: "0x77fa66882a8854d883101fb8501bd3cad347fc32" }, // wstETH
    { underlying: "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", aToken: "0xa4d94019934d8333ef880abffbf2fdd611c762bd", debtToken: "0xe701126012ec0290822eea17b794454d1af8b030" }, // USDCn
  ],
};
