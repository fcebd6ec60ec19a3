// Chainlink's dollar feeds on Ethereum, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = { feed: "0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419", heartbeatSeconds: 3_600 };

// biome-ignore format: one feed a line
export const ethereumFeeds: ChainPriceFeeds = {
  native,
  wrappedNative: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  sequencer: null,
  tokens: {
    "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2": native, // WETH
    "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": { feed: "0x8fffffd4afb6115b954bd326cbe7b4ba576818f6", heartbeatSeconds: 82_800 }, // USDC
    "0xdac17f958d2ee523a2206206994597c13d831ec7": { feed: "0x3e7d1eab13ad0104d2750b8863b489d65364e32d", heartbeatSeconds: 86_400 }, // USDT
    "0x6b175474e89094c44da98b954eedeac495271d0f": { feed: "0xaed0c38402a5d19df6e4c03f4e2dced6e29c1ee9", heartbeatSeconds: 3_600 }, // DAI
    "0x514910771af9ca656af840dff83e8264ecf986ca": { feed: "0x2c1d072e956affc0d435cb7ac38ef18d24d9127c", heartbeatSeconds: 3_600 }, // LINK
    "0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9": { feed: "0x547a514d5e3769680ce22b2361c10ea13619e8a9", heartbeatSeconds: 3_600 }, // AAVE
    "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984": { feed: "0x553303d460ee0afb37edff9be42922d8ff63220e", heartbeatSeconds: 3_600 }, // UNI
    "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf": { feed: "0x2665701293fcbeb223d11a08d826563edcce423a", heartbeatSeconds: 86_400 }, // cbBTC
    "0x18084fba666a33d37592fa2633fd49a74dd93a88": { feed: "0x8350b7de6a6a2c1368e7d4bd968190e13e354297", heartbeatSeconds: 86_400 }, // tBTC
    "0xae7ab96520de3a18e5e111b5eaab095312d7fe84": { feed: "0xcfe54b5cd566ab89272946f602d76ea879cab4a8", heartbeatSeconds: 3_600 }, // stETH
    "0xc00e94cb662c3520282e6f5717214004a7f26888": { feed: "0xdbd020caef83efd542f4de03e3cf0c28a4428bd5", heartbeatSeconds: 3_600 }, // COMP
    "0xd533a949740bb3306d119cc777fa900ba034cd52": { feed: "0xcd627aa160a6fa45eb793d19ef54f5062f20f33f", heartbeatSeconds: 86_400 }, // CRV
    "0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2": { feed: "0xec1d1b3b0443256cc3860e24a46f108e699484aa", heartbeatSeconds: 3_600 }, // MKR
    "0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f": { feed: "0xdc3ea94cd0ac27d9a86c180091e7f78c683d3699", heartbeatSeconds: 86_400 }, // SNX
    "0xc18360217d8f7ab5e7c516566761ea12ce7f9d72": { feed: "0x5c00128d4d1c2f4f652c267d7bcdd7ac99c16e16", heartbeatSeconds: 86_400 }, // ENS
    "0x111111111117dc0aa78b770fa6a738034120c302": { feed: "0xc929ad75b72593967de83e7f7cda0493458261d9", heartbeatSeconds: 86_400 }, // 1INCH
    "0xc944e90c64b2c07662a292be6244bdf05cda44a7": { feed: "0x86cf33a451de9dc61a2862fd94ff4ad4bd65a5d2", heartbeatSeconds: 86_400 }, // GRT
    "0x6b3595068778dd592e39a122f4f5a5cf09c90fe2": { feed: "0xcc70f09a6cc17553b2e31954cd36e4a2d89501f7", heartbeatSeconds: 86_400 }, // SUSHI
    "0x0bc529c00c6401aef6d220be8c6ea1667f6ad93e": { feed: "0xa027702dbb89fbd58938e4324ac03b58d812b0e1", heartbeatSeconds: 86_400 }, // YFI
    "0x4d224452801aced8b2f0aebe155379bb5d594381": { feed: "0xd10abbc76679a20055e167bb80a24ac851b37056", heartbeatSeconds: 86_400 }, // APE
    "0xba100000625a3754423978a60c9317c58a424e3d": { feed: "0xdf2917806e30300537aeb49a7663062f4d1f2b5f", heartbeatSeconds: 86_400 }, // BAL
    "0xd33526068d116ce69f19a9ee46f0bd304f21a51f": { feed: "0x4e155ed98afe9034b7a5962f6c84c86d869daa9d", heartbeatSeconds: 86_400 }, // RPL
    "0x5f98805a4e8be255a32880fdec7f6728c6568ba0": { feed: "0x3d7ae7e594f2f2091ad8798313450130d0aba3a0", heartbeatSeconds: 86_400 }, // LUSD
    "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f": { feed: "0x3f12643d3f6f874d39c2a4c9f2cd6f2dbac877fc", heartbeatSeconds: 86_400 }, // GHO
    "0xf939e0a03fb07f59a73314e73794be0e57ac1b4e": { feed: "0xeef0c605546958c1f899b6fb336c20671f9cd49f", heartbeatSeconds: 86_400 }, // crvUSD
    "0x6c3ea9036406852006290770bedfcaba0e23a0e8": { feed: "0x8f1df6d7f2db73eece86a18b4381f4707b918fb1", heartbeatSeconds: 86_400 }, // PYUSD
    "0x4c9edd5852cd905f086c759e8383e09bff1e68b3": { feed: "0xa569d910839ae8865da8f8e70fffb0cba869f961", heartbeatSeconds: 82_800 }, // USDe
    "0x9d39a5de30e57443bff2a8307a4256c8797a3497": { feed: "0xff3bc18ccbd5999ce63e788a1c250a88626ad099", heartbeatSeconds: 86_400 }, // sUSDe
    "0xdc035d45d973e3ec169d2276ddab16f1e407384f": { feed: "0xff30586cd0f29ed462364c7e81375fc0c71219b1", heartbeatSeconds: 82_800 }, // USDS
    "0x8292bb45bf1ee4d140127049757c2e0ff06317ed": { feed: "0x26c46b7ad0012ca71f2298ada567dc9af14e7f2a", heartbeatSeconds: 86_400 }, // RLUSD
    "0x1abaea1f7c830bd89acc67ec4af516284b1bc33c": { feed: "0x04f84020fdf10d9ee64d1dcc2986edf2f556da11", heartbeatSeconds: 86_400 }, // EURC
    "0xb50721bcf8d664c30412cfbc6cf7a15145234ad1": { feed: "0x31697852a68433dbcc2ff612c516d69e3d9bd08f", heartbeatSeconds: 86_400 }, // ARB
    "0x4e3fbd56cd56c3e72c1403e103b45db9da5b9d2b": { feed: "0xd962fc30a72a84ce50161031391756bf2876af5d", heartbeatSeconds: 86_400 }, // CVX
    "0x865377367054516e17014ccded1e7d814edc9ce4": { feed: "0xe33592594f72cc7ec8a05788be8e8455746c3a32", heartbeatSeconds: 86_400 }, // DOLA
    "0xec53bf9167f50cdeb3ae105f56099aaab9061f83": { feed: "0xf2917e602c2dca458937fad715bb1e465305a4a1", heartbeatSeconds: 86_400 }, // EIGEN
    "0x853d955acef822db058eb8505911ed77f175b99e": { feed: "0xb9e1e3a9feff48998e45fa90847ed4d467e8bcfd", heartbeatSeconds: 3_600 }, // FRAX
    "0xf57e7e7c23978c3caec3c3548e3d615c346e79ff": { feed: "0xbaebefc1d023c0feccc047bff42e75f15ff213e6", heartbeatSeconds: 86_400 }, // IMX
    "0xdefa4e8a7bcba345f687a2f1456f5edd9ce97202": { feed: "0xf8ff43e991a81e6ec886a3d281a2c6cc19ae70fc", heartbeatSeconds: 86_400 }, // KNC
    "0xaca92e438df0b2401ff60da7e4337b687a2435da": { feed: "0xc90e3460424fb8ea79775089e9053113fee34ed0", heartbeatSeconds: 86_400 }, // mUSD
    "0x45804880de22913dafe09f4980848ece6ecbaf78": { feed: "0x9944d86ceb9160af5c5feb251fd671923323f8c3", heartbeatSeconds: 86_400 }, // PAXG
    "0x320623b8e4ff03373931769a31fc52a4e78b5d70": { feed: "0x759bbc1be8f90ee6457c44abc7d443842a976d02", heartbeatSeconds: 86_400 }, // RSR
    "0x3845badade8e6dff049820680d1f14bd3903a5d0": { feed: "0x35e3f7e558c04ce7eee1629258ecbba03b36ec56", heartbeatSeconds: 86_400 }, // SAND
    "0x56072c95faa701256059aa122697b133aded9279": { feed: "0xee10fe5e7aa92dd7b136597449c3d5813cfc5f18", heartbeatSeconds: 86_400 }, // SKY
    "0x090185f2135308bad17527004364ebcc2d37e5f6": { feed: "0x8c110b94c5f1d347facf5e1e938ab2db60e3c9a8", heartbeatSeconds: 86_400 }, // SPELL
    "0xaf5191b0de278c7286d6c7cc6ab6bb8a73ba2cd6": { feed: "0x7a9f34a0aa917d438e9b6e630067062b7f8f6f3d", heartbeatSeconds: 86_400 }, // STG
    "0xe6bfd33f52d82ccb5b37e16d3dd81f9ffdabb195": { feed: "0x2d27d9e1b74936d8e83c4ba118f09a4c4a897f62", heartbeatSeconds: 86_400 }, // SXT
    "0x0000000000085d4780b73119b644ae5ecd22b376": { feed: "0xec746ecf986e2927abd291a2a1716c940100f8ba", heartbeatSeconds: 86_400 }, // TUSD
    "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d": { feed: "0xf0d9bb015cd7bfab877b7156146dc09bf461370d", heartbeatSeconds: 86_400 }, // USD1
    "0xe343167631d89b6ffc58b88d6b7fb0228795491d": { feed: "0x14f0737d6b705259e521ea6e9e3506ac78dbd311", heartbeatSeconds: 86_400 }, // USDG
    "0x8e870d67f660d95d5be530380d0ec0bd388289e1": { feed: "0x09023c0da49aaf8fc3fa3adf34c6a7016d38d5e3", heartbeatSeconds: 86_400 }, // USDP
    "0xfa2b947eec368f42195f24f36d2af29f7c24cec2": { feed: "0xb177857a1799aa5f7feb5799fdf12cbe8fdf78b1", heartbeatSeconds: 86_400 }, // USDf
    "0xc139190f447e929f090edeb554d95abb8b18ac1c": { feed: "0x66704dad467a7ca508b3be15865d9b9f3e186c90", heartbeatSeconds: 86_400 }, // USDtb
    "0xda5e1988097297dcdc1f90d4dfe7909e847cbef6": { feed: "0x14e5fc91ddb3f97c33013cc9fa74f54062ad1aa1", heartbeatSeconds: 86_400 }, // WLFI
    "0xa2cd3d43c775978a96bdbf12d733d5a1ed94fb18": { feed: "0xeb988b77b94c186053282bfcd8b7ed55142d3cab", heartbeatSeconds: 86_400 }, // XCN
    "0xe41d2489571d322189246dafa5ebde1f4699f498": { feed: "0x2885d15b8af22648b98b122b22fdf4d2a56c6023", heartbeatSeconds: 86_400 }, // ZRX
    "0xcacd6fd266af91b8aed52accc382b4e165586e29": { feed: "0x9b4a96210bc8d9d55b1908b465d8b0de68b7ff83", heartbeatSeconds: 86_400 }, // frxUSD
  },
  directory: {
    repository: "github.com/euler-xyz/oracle-checks",
    commit: "a7664b59a02480313482c24f755a2071895a76ac",
    date: "2026-08-20",
  },
};
