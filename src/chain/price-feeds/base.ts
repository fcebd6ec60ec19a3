// Chainlink's dollar feeds on Base, from the directory in @aave-dao/aave-address-book: each for exactly that asset.
import { type ChainPriceFeeds, dailyFeed, twentyMinuteFeed } from "./price-feed.ts";

export const baseFeeds: ChainPriceFeeds = {
  native: twentyMinuteFeed("0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70"),
  sequencer: "0xbcf85224fc0756b9fa45aa7892530b47e10b6433",
  tokens: {
    "0x4200000000000000000000000000000000000006": twentyMinuteFeed(
      "0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70",
    ), // WETH
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": dailyFeed("0x7e860098f58bbfc8648a4311b374b1d669a2bc6b"), // USDC
    "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2": dailyFeed("0xf19d560eb8d2adf07bd6d13ed03e1d11215721f9"), // USDT
    "0x50c5725949a6f0c72e6c4a641f24049a917db0cb": dailyFeed("0x591e79239a7d679378ec8c847e5038150364c78f"), // DAI
    "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf": dailyFeed("0x07da0e54543a844a80abe69c8a12f22b3aa59f9d"), // cbBTC
    "0x236aa50979d5f3de3bd1eeb40e81137f22ab794b": dailyFeed("0x6d75bfb5a5885f841b132198c9f0be8c872057bf"), // tBTC
    "0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22": dailyFeed("0xd7818272b9e248357d13057aab0b417af31e817d"), // cbETH
    "0x88fb150bdc53a65fe94dea0c9ba0a6daf8c6e196": dailyFeed("0x17cab8fe31e32f08326e5e27412894e49b0f9d65"), // LINK
    "0x63706e401c06ac8513145b7687a14804d17f814b": dailyFeed("0x3d6774ef702a10b20fca8ed40fc022f7e4938e07"), // AAVE
    "0x940181a94a35a4569e4529a3cdfb74e38fd98631": dailyFeed("0x4ec5970fc728c5f65ba413992cd5ff6fd70fcff0"), // AERO
    "0x9e1028f5f1d5ede59748ffcee5532509976840e0": dailyFeed("0x9dda783de64a9d1a60c49ca761ebe528c35ba428"), // COMP
    "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42": dailyFeed("0xdae398520e2b67cd3f27aef9cf14d93d927f8250"), // EURC
    "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee": dailyFeed("0x42868efcee13c0e71af89c04ff7d96f5bec479b0"), // GHO
    "0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b": dailyFeed("0xeaf310161c9ef7c813a14f8fef6fb271434019f7"), // VIRTUAL
    "0xbaa5cc21fd487b8fcc2f632f3f4e8d37262a0842": dailyFeed("0xe95e258bb6615d47515fc849f8542da651f12bf6"), // MORPHO
    "0x4ed4e862860bed51a9570b96d89af5e1b0efefed": dailyFeed("0xe62bce5d7cb9d16ab8b4d622538bc0a50a5799c2"), // DEGEN
  },
};
