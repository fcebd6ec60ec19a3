// Moonwell by chain id, from moonwell-fi/moonwell-contracts-v2 at 45866f4 of 2025-03-08; newer markets are read from the comptroller.
import type { CompoundV2Pool } from "../compound-v2/pool.ts";

export const MOONWELL_POOLS: ReadonlyMap<number, readonly CompoundV2Pool[]> = new Map([
  [
    10,
    [
      {
        name: "Moonwell Optimism",
        comptroller: "0xca889f40aae37fff165bccf69aef1e82b5c511b9",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x8e08617b0d66359d73aa11e11017834c29155525", // USDC
          "0xa3a53899ee8f9f6e963437c5b3f805fec538bf84", // USDT
          "0x3fe782c2fe7668c2f1eb313acf3022a31fead6b2", // DAI
          "0x6e6ca598a06e609c913551b729a228b023f06fdb", // WBTC
          "0xb4104c02bbf4e9be85aaa41a62974e4e28d59a33", // WETH
          "0xbb3b1ab66efb43b10923b87460c0106643b83f9d", // wstETH
          "0x95c84f369bd0251ca903052600a3c96838d78ba1", // cbETH
          "0x4c2e35e3ec4a0c82849637bc04a4609dbe53d321", // rETH
          "0x866b838b97ee43f2c818b3cb5cc77a0dc22003fc", // VELO
          "0x9fc345a20541bf8773988515c5950ed69af01847", // OP
          "0x181ba797ccf779d8ab339721ed6ee827e758668e", // wrsETH
          "0xb8051464c8c92209c92f3a4cd9c73746c4c3cfb3", // weETH
        ],
      },
    ],
  ],
  [
    8453,
    [
      {
        name: "Moonwell Base",
        comptroller: "0xfbb21d0380bee3312b33c4353c8936a0f13ef26c",
        nativeMarket: null,
        // biome-ignore format: one market a line
        markets: [
          "0x73b06d8d18de422e269645eace15400de7462417", // DAI
          "0x703843c3379b52f9ff486c9f5892218d2a065cc8", // USDBC
          "0xedc817a28e8b93b03976fbd4a3ddbc9f7d176c22", // USDC
          "0x628ff693426583d9a7fb391e54366292f509d457", // WETH
          "0x3bf93770f2d4a794c3d9ebefbaebae2a8f09a5e5", // cbETH
          "0x627fe393bc6edda28e99ae648fd6ff362514304b", // wstETH
          "0xcb1dacd30638ae38f2b94ea64f066045b7d45f44", // rETH
          "0x73902f619ceb9b31fd8efecf435cbdf89e369ba6", // AERO
          "0xb8051464c8c92209c92f3a4cd9c73746c4c3cfb3", // weETH
          "0xf877acafa28c19b96727966690b2f44d35ad5976", // cbBTC
          "0xb682c840b5f4fc58b20769e691a6fa1305a501a2", // EURC
          "0xfc41b49d064ac646015b459c522820db9472f4b5", // wrsETH
          "0xdc7810b47eaab250de623f0ee07764afa5f71ed1", // WELL
          "0xb6419c6c2e60c4025d6d06ee4f913ce89425a357", // USDS
          "0x9a858ebff1beb0d3495bb0e2897c1528ed84a218", // TBTC
          "0x10ff57877b79e9bd949b3815220ec87b9fc5d2ee", // LBTC
          "0xde8df9d942d78ede3ca06e60712582f79cfffc64", // VIRTUAL
        ],
      },
    ],
  ],
]);
