// Aave v2 Ethereum, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../../aave-v3/market.ts";

export const aaveV2Ethereum: AaveMarket = {
  name: "Aave v2 Ethereum",
  pool: "0x7d2768de32b0b80b7a3454c06bdac94a69ddc7a9",
  oracle: "0xa50ba011c48153de246e5192c8f9258a2ba79ca9",
  quote: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xdac17f958d2ee523a2206206994597c13d831ec7", aToken: "0x3ed3b47dd13ec9a98b44e6204a523e766b225811", debtToken: "0x531842cebbdd378f8ee36d171d6cc9c4fcf475ec" }, // USDT
    { underlying: "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", aToken: "0x9ff58f4ffb29fa2266ab25e75e2a8b3503311656", debtToken: "0x9c39809dec7f95f5e0713634a4d0701329b3b4d2" }, // WBTC
    { underlying: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", aToken: "0x030ba81f1c18d280636f32af80b9aad02cf0854e", debtToken: "0xf63b34710400cad3e044cffdcab00a0f32e33ecf" }, // WETH
    { underlying: "0x0bc529c00c6401aef6d220be8c6ea1667f6ad93e", aToken: "0x5165d24277cd063f5ac44efd447b27025e888f37", debtToken: "0x7ebd09022be45ad993baa1cec61166fcc8644d97" }, // YFI
    { underlying: "0xe41d2489571d322189246dafa5ebde1f4699f498", aToken: "0xdf7ff54aacacbff42dfe29dd6144a69b629f8c9e", debtToken: "0x85791d117a392097590bded3bd5abb8d5a20491a" }, // ZRX
    { underlying: "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984", aToken: "0xb9d7cb55f463405cdfbe4e90a6d2df01c2b92bf1", debtToken: "0x5bdb050a92cadccfcdcccbfc17204a1c9cc0ab73" }, // UNI
    { underlying: "0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9", aToken: "0xffc97d72e13e01096502cb8eb52dee56f74dad7b", debtToken: "0xf7dba49d571745d9d7fcb56225b05bea803ebf3c" }, // AAVE
    { underlying: "0x0d8775f648430679a709e98d2b0cb6250d2887ef", aToken: "0x05ec93c0365baaeabf7aeffb0972ea7ecdd39cf1", debtToken: "0xfc218a6dfe6901cb34b1a5281fc6f1b8e7e56877" }, // BAT
    { underlying: "0x4fabb145d64652a948d72533023f6e7a623c7c53", aToken: "0xa361718326c15715591c299427c62086f69923d9", debtToken: "0xba429f7011c9fa04cdd46a2da24dc0ff0ac6099c" }, // BUSD
    { underlying: "0x6b175474e89094c44da98b954eedeac495271d0f", aToken: "0x028171bca77440897b824ca71d1c56cac55b68a3", debtToken: "0x6c3c78838c761c6ac7be9f59fe808ea2a6e4379d" }, // DAI
    { underlying: "0xf629cbd94d3791c9250152bd8dfbdf380e2a3b9c", aToken: "0xac6df26a590f08dcc95d5a4705ae8abbc88509ef", debtToken: "0x38995f292a6e31b78203254fe1cdd5ca1010a446" }, // ENJ
    { underlying: "0xdd974d5c2e2928dea5f71b9825b8b646686bd200", aToken: "0x39c6b3e42d6a679d7d776778fe880bc9487c2eda", debtToken: "0x6b05d1c608015ccb8e205a690cb86773a96f39f1" }, // KNC
    { underlying: "0x514910771af9ca656af840dff83e8264ecf986ca", aToken: "0xa06bc25b5805d5f8d82847d191cb4af5a3e873e0", debtToken: "0x0b8f12b1788bfde65aa1ca52e3e9f3ba401be16d" }, // LINK
    { underlying: "0x0f5d2fb29fb7d3cfee444a200298f468908cc942", aToken: "0xa685a61171bb30d4072b338c80cb7b2c865c873e", debtToken: "0x0a68976301e46ca6ce7410db28883e309ea0d352" }, // MANA
    { underlying: "0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2", aToken: "0xc713e5e149d5d0715dcd1c156a020976e7e56b88", debtToken: "0xba728ead5e496be00dcf66f650b6d7758ecb50f8" }, // MKR
    { underlying: "0x408e41876cccdc0f92210600ef50372656052a38", aToken: "0xcc12abe4ff81c9378d670de1b57f8e0dd228d77a", debtToken: "0xcd9d82d33bd737de215cdac57fe2f7f04df77fe0" }, // REN
    { underlying: "0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f", aToken: "0x35f6b052c598d933d69a4eec4d04c73a191fe6c2", debtToken: "0x267eb8cf715455517f9bd5834aeae3cea1ebdbd8" }, // SNX
    { underlying: "0x57ab1ec28d129707052df4df418d58a2d46d5f51", aToken: "0x6c5024cd4f8a59110119c56f8933403a539555eb", debtToken: "0xdc6a3ab17299d9c2a412b0e0a4c1f55446ae0817" }, // sUSD
    { underlying: "0x0000000000085d4780b73119b644ae5ecd22b376", aToken: "0x101cc05f4a51c0319f570d5e146a8c625198e636", debtToken: "0x01c0eb1f8c6f1c1bf74ae028697ce7aa2a8b0e92" }, // TUSD
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0xbcca60bb61934080951369a648fb03df4f96263c", debtToken: "0x619beb58998ed2278e08620f97007e1116d5d25b" }, // USDC
    { underlying: "0xd533a949740bb3306d119cc777fa900ba034cd52", aToken: "0x8dae6cb04688c62d939ed9b68d32bc62e49970b1", debtToken: "0x00ad8ebf64f141f1c81e9f8f792d3d1631c6c684" }, // CRV
    { underlying: "0x056fd409e1d7a124bd7017459dfea2f387b6d5cd", aToken: "0xd37ee7e4f452c6638c96536e68090de8cbcdb583", debtToken: "0x279af5b99540c1a3a7e3cdd326e19659401ef99e" }, // GUSD
    { underlying: "0xba100000625a3754423978a60c9317c58a424e3d", aToken: "0x272f97b7a56a387ae942350bbc7df5700f8a4576", debtToken: "0x13210d4fe0d5402bd7ecbc4b5bc5cfca3b71adb0" }, // BAL
    { underlying: "0x8798249c2e607446efb7ad49ec89dd1865ff4272", aToken: "0xf256cc7847e919fac9b808cc216cac87ccf2f47a", debtToken: "0xfafedf95e21184e3d880bd56d4806c4b8d31c69a" }, // xSUSHI
    { underlying: "0xd5147bc8e386d91cc5dbe72099dac6c9b99276f5", aToken: "0x514cd6756ccbe28772d4cb81bc3156ba9d1744aa", debtToken: "0x348e2ebd5e962854871874e444f4122399c02755" }, // renFIL
    { underlying: "0x03ab458634910aad20ef5f1c8ee96f1d6ac54919", aToken: "0xc9bc48c72154ef3e5425641a3c747242112a46af", debtToken: "0xb5385132ee8321977fff44b60cde9fe9ab0b4e6b" }, // RAI
    { underlying: "0xd46ba6d942050d489dbd938a2c909a5d5039a161", aToken: "0x1e6bb68acec8fefbd87d192be09bb274170a0548", debtToken: "0xf013d90e4e4e3baf420dfea60735e75dbd42f1e1" }, // AMPL
    { underlying: "0x8e870d67f660d95d5be530380d0ec0bd388289e1", aToken: "0x2e8f4bdbe3d47d7d7de490437aea9915d930f1a3", debtToken: "0xfdb93b3b10936cf81fa59a02a7523b6e2149b2b7" }, // USDP
    { underlying: "0x1494ca1f11d487c2bbe4543e90080aeba4ba3c2b", aToken: "0x6f634c6135d2ebd550000ac92f494f9cb8183dae", debtToken: "0x4ddff5885a67e4effec55875a3977d7e60f82ae0" }, // DPI
    { underlying: "0x853d955acef822db058eb8505911ed77f175b99e", aToken: "0xd4937682df3c8aef4fe912a96a74121c0829e664", debtToken: "0xfe8f19b17ffef0fdbfe2671f248903055afaa8ca" }, // FRAX
    { underlying: "0x956f47f50a910163d8bf957cf5846d573e7f87ca", aToken: "0x683923db55fead99a79fa01a27eec3cb19679cc3", debtToken: "0xc2e10006accab7b45d9184fcf5b7ec7763f5baae" }, // FEI
    { underlying: "0xae7ab96520de3a18e5e111b5eaab095312d7fe84", aToken: "0x1982b2f5814301d4e9a8b0201555376e62f82428", debtToken: "0xa9deac9f00dc4310c35603fcd9d34d1a750f81db" }, // stETH
    { underlying: "0xc18360217d8f7ab5e7c516566761ea12ce7f9d72", aToken: "0x9a14e23a58edf4efdcb360f68cd1b95ce2081a2f", debtToken: "0x176808047cc9b7a2c9ae202c593ed42ddd7c0d13" }, // ENS
    { underlying: "0xa693b19d2931d498c5b318df961919bb4aee87a5", aToken: "0xc2e2152647f4c26028482efaf64b2aa28779efc4", debtToken: "0xaf32001cf2e66c4c3af4205f6ea77112aa4160fe" }, // UST
    { underlying: "0x4e3fbd56cd56c3e72c1403e103b45db9da5b9d2b", aToken: "0x952749e07d7157bb9644a894dfaf3bad5ef6d918", debtToken: "0x4ae5e4409c6dbc84a00f9f89e4ba096603fb7d50" }, // CVX
    { underlying: "0x111111111117dc0aa78b770fa6a738034120c302", aToken: "0xb29130cbcc3f791f077eade0266168e808e5151e", debtToken: "0xd7896c1b9b4455aff31473908eb15796ad2295da" }, // ONE_INCH
    { underlying: "0x5f98805a4e8be255a32880fdec7f6728c6568ba0", aToken: "0xce1871f791548600cb59efbeffc9c38719142079", debtToken: "0x411066489ab40442d6fc215ad7c64224120d33f2" }, // LUSD
  ],
};
