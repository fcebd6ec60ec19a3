// Aave v3 on Polygon: its oracle and the assets it lists, from @bgd-labs/aave-address-book.
import type { AaveMarket } from "./aave-market.ts";

export const polygonAaveMarket: AaveMarket = {
  oracle: "0xb023e699f5a33916ea823a16485e259257ca8bd1",
  assets: {
    DAI: "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063",
    LINK: "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39",
    USDC: "0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
    WBTC: "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6",
    WETH: "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619",
    USDT0: "0xc2132d05d31c914a87c6611c10748aeb04b58e8f",
    AAVE: "0xd6df932a45c0f255f85145f286ea0b292b21c90b",
    WPOL: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
    CRV: "0x172370d5cd63279efa6d502dab29171933a610af",
    SUSHI: "0x0b3f868e0be5597d5db7feb59e1cadbb0fdda50a",
    GHST: "0x385eeac5cb85a38a9a07a70c73e0a3271cfb54a7",
    BAL: "0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3",
    DPI: "0x85955046df4668e1dd369d2de9f3aeb98dd2a369",
    EURS: "0xe111178a87a3bff0c8d18decba5798827539ae99",
    jEUR: "0x4e3decbb3645551b8a19f0ea1678079fcb33fb4c",
    EURA: "0xe0b52e49357fd4daf2c15e02058dce6bc0057db4",
    miMATIC: "0xa3fa99a148fa48d14ed51d610c367c61876997f1",
    stMATIC: "0x3a58a54c066fdc0f2d55fc9c89f0415c92ebf3c4",
    MaticX: "0xfa68fb4628dff1028cfec22b4162fccd0d45efb6",
    wstETH: "0x03b54a6e9a984069379fae1a4fc4dbae93b3bccd",
    USDCn: "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359",
  },
};
