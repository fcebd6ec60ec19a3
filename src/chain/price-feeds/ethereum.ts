// Chainlink's dollar feeds on Ethereum, from the directory in @aave-dao/aave-address-book: each for exactly that asset.
import { type ChainPriceFeeds, dailyFeed, hourlyFeed } from "./price-feed.ts";

export const ethereumFeeds: ChainPriceFeeds = {
  native: hourlyFeed("0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419"),
  sequencer: null,
  tokens: {
    "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2": hourlyFeed("0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419"), // WETH
    "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": dailyFeed("0x8fffffd4afb6115b954bd326cbe7b4ba576818f6"), // USDC
    "0xdac17f958d2ee523a2206206994597c13d831ec7": dailyFeed("0x3e7d1eab13ad0104d2750b8863b489d65364e32d"), // USDT
    "0x6b175474e89094c44da98b954eedeac495271d0f": hourlyFeed("0xaed0c38402a5d19df6e4c03f4e2dced6e29c1ee9"), // DAI
    "0x514910771af9ca656af840dff83e8264ecf986ca": hourlyFeed("0x2c1d072e956affc0d435cb7ac38ef18d24d9127c"), // LINK
    "0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9": hourlyFeed("0x547a514d5e3769680ce22b2361c10ea13619e8a9"), // AAVE
    "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984": hourlyFeed("0x553303d460ee0afb37edff9be42922d8ff63220e"), // UNI
    "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf": dailyFeed("0x2665701293fcbeb223d11a08d826563edcce423a"), // cbBTC
    "0x18084fba666a33d37592fa2633fd49a74dd93a88": dailyFeed("0x8350b7de6a6a2c1368e7d4bd968190e13e354297"), // tBTC
    "0xae7ab96520de3a18e5e111b5eaab095312d7fe84": hourlyFeed("0xcfe54b5cd566ab89272946f602d76ea879cab4a8"), // stETH
    "0xc00e94cb662c3520282e6f5717214004a7f26888": dailyFeed("0xdbd020caef83efd542f4de03e3cf0c28a4428bd5"), // COMP
    "0xd533a949740bb3306d119cc777fa900ba034cd52": dailyFeed("0xcd627aa160a6fa45eb793d19ef54f5062f20f33f"), // CRV
    "0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2": dailyFeed("0xec1d1b3b0443256cc3860e24a46f108e699484aa"), // MKR
    "0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f": dailyFeed("0xdc3ea94cd0ac27d9a86c180091e7f78c683d3699"), // SNX
    "0xc18360217d8f7ab5e7c516566761ea12ce7f9d72": dailyFeed("0x5c00128d4d1c2f4f652c267d7bcdd7ac99c16e16"), // ENS
    "0x111111111117dc0aa78b770fa6a738034120c302": dailyFeed("0xc929ad75b72593967de83e7f7cda0493458261d9"), // 1INCH
    "0xc944e90c64b2c07662a292be6244bdf05cda44a7": dailyFeed("0x86cf33a451de9dc61a2862fd94ff4ad4bd65a5d2"), // GRT
    "0x6b3595068778dd592e39a122f4f5a5cf09c90fe2": dailyFeed("0xcc70f09a6cc17553b2e31954cd36e4a2d89501f7"), // SUSHI
    "0x0bc529c00c6401aef6d220be8c6ea1667f6ad93e": dailyFeed("0xa027702dbb89fbd58938e4324ac03b58d812b0e1"), // YFI
    "0x4d224452801aced8b2f0aebe155379bb5d594381": dailyFeed("0xd10abbc76679a20055e167bb80a24ac851b37056"), // APE
    "0xba100000625a3754423978a60c9317c58a424e3d": dailyFeed("0xdf2917806e30300537aeb49a7663062f4d1f2b5f"), // BAL
    "0xd33526068d116ce69f19a9ee46f0bd304f21a51f": dailyFeed("0x4e155ed98afe9034b7a5962f6c84c86d869daa9d"), // RPL
    "0x5f98805a4e8be255a32880fdec7f6728c6568ba0": dailyFeed("0x3d7ae7e594f2f2091ad8798313450130d0aba3a0"), // LUSD
    "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f": dailyFeed("0x3f12643d3f6f874d39c2a4c9f2cd6f2dbac877fc"), // GHO
    "0xf939e0a03fb07f59a73314e73794be0e57ac1b4e": dailyFeed("0xeef0c605546958c1f899b6fb336c20671f9cd49f"), // crvUSD
    "0x6c3ea9036406852006290770bedfcaba0e23a0e8": dailyFeed("0x8f1df6d7f2db73eece86a18b4381f4707b918fb1"), // PYUSD
    "0x4c9edd5852cd905f086c759e8383e09bff1e68b3": dailyFeed("0xa569d910839ae8865da8f8e70fffb0cba869f961"), // USDe
    "0x9d39a5de30e57443bff2a8307a4256c8797a3497": dailyFeed("0xff3bc18ccbd5999ce63e788a1c250a88626ad099"), // sUSDe
    "0xdc035d45d973e3ec169d2276ddab16f1e407384f": dailyFeed("0xff30586cd0f29ed462364c7e81375fc0c71219b1"), // USDS
    "0x8292bb45bf1ee4d140127049757c2e0ff06317ed": dailyFeed("0x26c46b7ad0012ca71f2298ada567dc9af14e7f2a"), // RLUSD
    "0x1abaea1f7c830bd89acc67ec4af516284b1bc33c": dailyFeed("0x04f84020fdf10d9ee64d1dcc2986edf2f556da11"), // EURC
  },
};
