// Aave v3 on Arbitrum: its oracle and the assets it lists, from @bgd-labs/aave-address-book.
import type { AaveMarket } from "./aave-market.ts";

export const arbitrumAaveMarket: AaveMarket = {
  oracle: "0xb56c2f0b653b2e0b10c9b928c8580ac5df02c7c7",
  assets: {
    DAI: "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1",
    LINK: "0xf97f4df75117a78c1a5a0dbb814af92458539fb4",
    USDC: "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8",
    WBTC: "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f",
    WETH: "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
    USDT: "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9",
    AAVE: "0xba5ddd1f9d7f570dc94a51479a000e3bce967196",
    EURS: "0xd22a58f79e9481d1a88e00c343885a588b34b68b",
    wstETH: "0x5979d7b546e38e414f7e9822514be443a4800529",
    MAI: "0x3f56e0c36d275367b8c502090edf38289b3dea0d",
    rETH: "0xec70dcb4a1efa46b8f2d97c310c9c4790ba5ffa8",
    LUSD: "0x93b346b6bc2548da6a1e7d98e9a421b42541425b",
    USDCn: "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
    FRAX: "0x17fc002b466eec40dae837fc4be5c67993ddbd6f",
    ARB: "0x912ce59144191c1204e64559fe8253a0e49e6548",
    weETH: "0x35751007a407ca6feffe80b3cb397736d2cf4dbe",
    GHO: "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33",
    ezETH: "0x2416092f143378750bb29b79ed961ab195cceea5",
    rsETH: "0x4186bfc76e2e237523cbc30fd220fe055156b41f",
    tBTC: "0x6c84a8f1c29108f47a79964b5fe888d4f4d0de40",
  },
};
