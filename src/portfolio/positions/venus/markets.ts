// Venus by chain id, from VenusProtocol/isolated-pools at 58b76f8 of 2025-08-11; newer markets are read from the comptrollers.
import type { CompoundV2Pool } from "../compound-v2/pool.ts";

export const VENUS_POOLS: ReadonlyMap<number, readonly CompoundV2Pool[]> = new Map([
  [
    1,
    [
      {
        name: "Venus Ethereum Core",
        comptroller: "0x687a01ecf6d3907658f7a7c714749fac32336d1b",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x0ec5488e4f8f319213a14cab188e01fb8517faa8", // vBAL
          "0xd8add9b41d4e1cd64edad8722ab0ba8d35536657", // vDAI
          "0x256addbe0a387c98f487e44b85c29eb983413c5e", // vEIGEN
          "0x4fafbdc4f2a9876bd1764827b26fb8dc4fd1db95", // vFRAX
          "0x25c20e6e110a1ce3febacc8b7e48368c7b2f0c91", // vLBTC
          "0x13eb80fdbe5c5f4a7039728e258a6f05fb3b912b", // vTUSD
          "0x17c07e0c232f2f80dfdbd7a95b942d893a4c5acb", // vUSDC
          "0x0c6b19287999f1e31a5c0a44393b24b62d2c0468", // vUSDS
          "0x8c3e3821259b82ffb32b2450a95d2dcbf161c24e", // vUSDT
          "0xa0ee2baa024cc3aa1bc9395522d07b7970ca75b3", // vUSDe
          "0x8716554364f20bca783cb2baa744d39361fd1d8d", // vWBTC
          "0x7c8ff7d2a1372433726f879bd945ffb250b94c65", // vWETH
          "0x672208c10aaaa2f9a6719f449c4c8227bc0bc202", // vcrvUSD
          "0x325ceb02fe1c2ff816a83a5770ea0e88e2faecf2", // veBTC
          "0x17142a05fe678e9584fa1d88efac1bf181bf7abe", // vsFRAX
          "0xe36ae842dbbd7ae372eba02c8239cd431cc063d6", // vsUSDS
          "0xa836ce315b7a6bb19397ee996551659b1d92298e", // vsUSDe
          "0x5e35c312862d53fd566737892adcf010cb4928f7", // vtBTC
          "0xc42e4bfb996ed35235bda505430cbe404eb49f77", // vweETHs
          "0xf87c0a64dc3a8622d6c63265fa29137788163879", // vyvUSDC-1
          "0x520d67226bc904ac122dce66ed2f8f61aa1ed764", // vyvUSDS-1
          "0x475d0c68a8cd275c15d1f01f4f291804e445f677", // vyvUSDT-1
          "0xba3916302cba4abcb51a01e706fc6051aaf272a0", // vyvWETH-1
        ],
      },
      {
        name: "Venus Ethereum Curve",
        comptroller: "0x67aa3ecc5831a65a5ba7be76bed3b5dc7db60796",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x30ad10bd5be62cab37863c2bfcc6e8fb4fd85bda", // vCRV
          "0x2d499800239c4cd3012473cb1eae33562f0a6933", // vcrvUSD
        ],
      },
      {
        name: "Venus Ethereum Ethena",
        comptroller: "0x562d2b6ff1dbf5f63e233662416782318cc081e4",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x62d9e2010cff87bae05b91d5e04605ef864abc3b", // vPT-USDe-27MAR2025
          "0xcca202a95e8096315e3f19e46e19e1b326634889", // vPT-sUSDE-27MAR2025
          "0xa8e7f9473635a5cb79646f14356a9fc394ca111a", // vUSDC
          "0x0792b9c60c728c1d2fd6665b3d7a08762a9b28e0", // vsUSDe
        ],
      },
      {
        name: "Venus Ethereum Liquid Staked ETH",
        comptroller: "0xf522cd0360ef8c2ff48b648d53ea1717ec0f3ac3",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x76697f8eaea4be01c678376aab97498ee8f80d5c", // vPT-weETH-26DEC2024
          "0xc82780db1257c788f262fbbda960b3706dfdcaf2", // vWETH
          "0xa854d35664c658280fff27b6edc6c4195c3229b3", // vezETH
          "0xe0ee5ddebfe0abe0a4af50299d68b74cec31668e", // vpufETH
          "0xdb6c345f864883a8f4cae87852ac342589e76d1b", // vrsETH
          "0xf9e9fe17c00a8b96a8ac20c4e344c8688d7b947e", // vsfrxETH
          "0xb4933af59868986316ed37fa865c829eba2df0c7", // vweETH
          "0xef26c64bc06a8de4ca5d31f119835f9a1d9433b9", // vweETHs
          "0x4a240f0ee138697726c8a3e43efe6ac3593432cb", // vwstETH
        ],
      },
    ],
  ],
  [
    10,
    [
      {
        name: "Venus Optimism Core",
        comptroller: "0x5593ff68be84c966821eef5f0a988c285d5b7cec",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x6b846e3418455804c1920fa4cc7a31a51c659a2d", // vOP
          "0x1c9406ee95b7af55f005996947b19f91b6d55b15", // vUSDC
          "0x37ac9731b0b02df54975cd0c7240e0977a051721", // vUSDT
          "0x9efdcfc2373f81d3df24647b1c46e15268884c46", // vWBTC
          "0x66d5ae25731ce99d46770745385e662c8e0b4025", // vWETH
        ],
      },
    ],
  ],
  [
    8453,
    [
      {
        name: "Venus Base Core",
        comptroller: "0x0c7973f9598aa62f9e03b94e92c967fd5437426c",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x3cb752d175740043ec463673094e06acda2f9a2e", // vUSDC
          "0xeb8a79bd44cf4500943bf94a2b4434c95c008599", // vWETH
          "0x7bbd1005bb24ec84705b04e1f2dfccad533b6d72", // vcbBTC
          "0x133d3bcd77158d125b75a17cb517ffd4b4be64c5", // vwstETH
          "0x75201d81b3b0b9d17b179118837be37f64fc4930", // vwsuperOETHb
        ],
      },
    ],
  ],
  [
    42161,
    [
      {
        name: "Venus Arbitrum Core",
        comptroller: "0x317c1a5739f39046e20b08ac9beea3f10fd43326",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0xaeb0fed69354f34831fe1d16475d9a83ddacada6", // vARB
          "0x7d8609f8da70ff9027e9bc5229af4f6727662707", // vUSDC
          "0xb9f9117d4200dc296f9acd1e8be1937df834a2fd", // vUSDT
          "0xada57840b372d4c28623e87fc175de8490792811", // vWBTC
          "0x68a34332983f4bf866768dd6d6e638b02ef5e1f0", // vWETH
          "0x4f3a73f318c5ea67a86eaace24309f29f89900df", // vgmBTC-USDC
          "0x9bb8cec9c0d46f53b4f2173bb2a0221f66c353cc", // vgmWETH-USDC
        ],
      },
      {
        name: "Venus Arbitrum Liquid Staked ETH",
        comptroller: "0x52bab1af7ff770551bd05b9fc2329a0bf5e23f16",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x39d6d13ea59548637104e40e729e4aabe27fe106", // vWETH
          "0x246a35e79a3a0618535a469adaf5091caa9f7e88", // vweETH
          "0x9df6b5132135f14719696bbae3c54bab272fdb16", // vwstETH
        ],
      },
    ],
  ],
]);
