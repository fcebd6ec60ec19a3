// Chainlink's dollar feeds on Base, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = { feed: "0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70", heartbeatSeconds: 1_200, fallback: { feed: "0xa4250ce1aa15ff4cb5e5a8655293b65694e436ed", heartbeatSeconds: 1_200 } };

// biome-ignore format: one feed a line
export const baseFeeds: ChainPriceFeeds = {
  native,
  wrappedNative: "0x4200000000000000000000000000000000000006",
  sequencer: "0xbcf85224fc0756b9fa45aa7892530b47e10b6433",
  tokens: {
    "0x4200000000000000000000000000000000000006": native, // WETH
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": { feed: "0x7e860098f58bbfc8648a4311b374b1d669a2bc6b", heartbeatSeconds: 86_400 }, // USDC
    "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2": { feed: "0xf19d560eb8d2adf07bd6d13ed03e1d11215721f9", heartbeatSeconds: 86_400 }, // USDT
    "0x50c5725949a6f0c72e6c4a641f24049a917db0cb": { feed: "0x591e79239a7d679378ec8c847e5038150364c78f", heartbeatSeconds: 86_400 }, // DAI
    "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf": { feed: "0x07da0e54543a844a80abe69c8a12f22b3aa59f9d", heartbeatSeconds: 1_200 }, // cbBTC
    "0x236aa50979d5f3de3bd1eeb40e81137f22ab794b": { feed: "0x6d75bfb5a5885f841b132198c9f0be8c872057bf", heartbeatSeconds: 86_400 }, // tBTC
    "0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22": { feed: "0xd7818272b9e248357d13057aab0b417af31e817d", heartbeatSeconds: 1_200 }, // cbETH
    "0x88fb150bdc53a65fe94dea0c9ba0a6daf8c6e196": { feed: "0x17cab8fe31e32f08326e5e27412894e49b0f9d65", heartbeatSeconds: 86_400 }, // LINK
    "0x63706e401c06ac8513145b7687a14804d17f814b": { feed: "0x3d6774ef702a10b20fca8ed40fc022f7e4938e07", heartbeatSeconds: 86_400 }, // AAVE
    "0x940181a94a35a4569e4529a3cdfb74e38fd98631": { feed: "0x4ec5970fc728c5f65ba413992cd5ff6fd70fcff0", heartbeatSeconds: 86_400 }, // AERO
    "0x9e1028f5f1d5ede59748ffcee5532509976840e0": { feed: "0x9dda783de64a9d1a60c49ca761ebe528c35ba428", heartbeatSeconds: 86_400 }, // COMP
    "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42": { feed: "0xdae398520e2b67cd3f27aef9cf14d93d927f8250", heartbeatSeconds: 86_400 }, // EURC
    "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee": { feed: "0x42868efcee13c0e71af89c04ff7d96f5bec479b0", heartbeatSeconds: 86_400 }, // GHO
    "0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b": { feed: "0xeaf310161c9ef7c813a14f8fef6fb271434019f7", heartbeatSeconds: 86_400 }, // VIRTUAL
    "0xbaa5cc21fd487b8fcc2f632f3f4e8d37262a0842": { feed: "0xe95e258bb6615d47515fc849f8542da651f12bf6", heartbeatSeconds: 86_400 }, // MORPHO
    "0x4ed4e862860bed51a9570b96d89af5e1b0efefed": { feed: "0xe62bce5d7cb9d16ab8b4d622538bc0a50a5799c2", heartbeatSeconds: 86_400 }, // DEGEN
    "0xb358489d5d92641edb4d8ee8063f8005964346ba": { feed: "0x1688e4b274a4cc9fd398eba6ae4dfb6528a9d2bc", heartbeatSeconds: 86_400 }, // AMP
    "0xcbd06e5a2b0c65597161de254aa074e489deb510": { feed: "0x95051de9db5cac61682f64505006f2991deab3c2", heartbeatSeconds: 86_400 }, // cbDOGE
    "0xcb585250f852c6c6bf90434ab21a00f02833a4af": { feed: "0xeee1a9d5a0c36d99972c057cb959267e88ab9160", heartbeatSeconds: 86_400 }, // cbXRP
    "0x4bfaa776991e85e5f8b1255461cbbd216cfc714f": { feed: "0x121934c415937863d64ef93436169444633ee0d8", heartbeatSeconds: 86_400 }, // HOME
    "0xecac9c5f704e954931349da37f60e39f515c11c1": { feed: "0x9e07546c9fe8868855cd04b26051a26d1599e270", heartbeatSeconds: 86_400 }, // LBTC
    "0x7300b37dfdfab110d83290a29dfb31b1740219fe": { feed: "0xef7541b388a77c1709a3d44bfbfc5c1ed3f0ac94", heartbeatSeconds: 86_400 }, // MAMO
    "0x24fcfc492c1393274b6bcd568ac9e225bec93584": { feed: "0x979447581b39caca33ef0ca8208592393d16cc13", heartbeatSeconds: 86_400 }, // MAVIA
    "0x7c298664bd6582f6f264c2cb5a4b9cc09b6e3889": { feed: "0x122b5334a8b55861dbc6729c294451471fbf318d", heartbeatSeconds: 86_400 }, // MLN
    "0x2da56acb9ea78330f947bd57c54119debda7af71": { feed: "0x4aeb6d15769ead32d0c5be2940f40c7cff53801d", heartbeatSeconds: 86_400 }, // MOG
    "0xb4fde59a779991bfb6a52253b51947828b982be3": { feed: "0xb48ac6409c0c3718b956089b0ffe295a10acddad", heartbeatSeconds: 86_400 }, // PEPE
    "0xab36452dbac151be02b16ca17d8919826072f64a": { feed: "0xaa98ae504658766dfe11f31c5d95a0bdcabde0b1", heartbeatSeconds: 86_400 }, // RSR
    "0x22e6966b799c4d5b13be962e1d117b56327fda66": { feed: "0xe3971ed6f1a5903321479ef3148b5950c0612075", heartbeatSeconds: 86_400 }, // SNX
    "0x820c137fa70c8691f0e44dc420a5e53c168921dc": { feed: "0x2330aae3bca5f05169d5f4597964d44522f62930", heartbeatSeconds: 86_400 }, // USDS
    "0xacfe6019ed1a7dc6f7b508c02d1b04ec88cc21bf": { feed: "0xaabc55ca55d70b034e4daa2551a224239890282f", heartbeatSeconds: 86_400 }, // VVV
    "0x0555e30da8f98308edb960aa94c0db47230d2b9c": { feed: "0xccadc697c55bbb68dc5bcdf8d3cbe83cdd4e071e", heartbeatSeconds: 1_200 }, // WBTC
    "0xa88594d404727625a9437c3f886c7643872296ae": { feed: "0xc15d9944daefe2db03e53bef8dda25a56832c5fe", heartbeatSeconds: 86_400 }, // WELL
    "0x9eaf8c1e34f05a589eda6bafdf391cf6ad3cb239": { feed: "0xd40e758b5ec80820b68dfc302fc5ce1239083548", heartbeatSeconds: 86_400 }, // YFI
    "0x6985884c4392d348587b19cb9eaaf157f13271cd": { feed: "0xdc31a4ccfca039bec6222e20be7770e12581bfeb", heartbeatSeconds: 86_400 }, // ZRO
  },
  directory: {
    repository: "github.com/euler-xyz/oracle-checks",
    commit: "6873e6d239a229dd8de94c70fcc64254b1e53232",
    date: "2026-08-19",
  },
};
