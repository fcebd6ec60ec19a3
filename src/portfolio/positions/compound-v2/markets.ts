// Compound v2 by chain id, from compound-finance/compound-protocol at a3214f6 of 2022-06-06; newer markets are read from the comptroller.
import type { CompoundV2Pool } from "./pool.ts";

export const COMPOUND_V2_POOLS: ReadonlyMap<number, readonly CompoundV2Pool[]> = new Map([
  [
    1,
    [
      {
        name: "Compound v2",
        comptroller: "0x3d9819210a31b4961b30ef54be2aed79b9c9cd3b",
        nativeMarket: "0x4ddc2d193948926d02f9b1fe9e1daa0718270ed5",
        // biome-ignore format: one market a line
        markets: [
          "0xe65cdb6479bac1e22340e4e755fae7e509ecd06c", // cAAVE
          "0x4b0181102a0112a2ef11abee5563bb4a3176c9d7", // cSUSHI
          "0x80a2ae356fc9ef4305676f7a3e2ed04e12c33946", // cYFI
          "0x12392f67bdf24fae0af363c24ac620a2f67dad86", // cTUSD
          "0xface851a4921ce59e912d19329929ce6da6eb0c7", // cLINK
          "0xccf4429db6322d5c611ee964527d42e5d685dd6a", // cWBTC2
          "0x70e36f6bf80a52b3b46b3af8e106cc0ed743e8e4", // cCOMP
          "0x39aa39c021dfbae8fac545936693ac917d5e7563", // cUSDC
          "0x5d3a536e4d6dbd6114cc1ead35777bab948e3643", // cDAI
          "0xf650c3d88d12db855b8bf7d11be6c55a4e07dcc9", // cUSDT
          "0x6c8c6b02e7b2be14d4fa6022dfd6d75921d90e4e", // cBAT
          "0x4ddc2d193948926d02f9b1fe9e1daa0718270ed5", // cETH
          "0x35a18000230da775cac24873d00ff85bccded550", // cUNI
          "0xf5dce57282a584d2746faf1593d3121fcac444dc", // cSAI
          "0x158079ee67fce2f58472a96584a73c7ab9ac95c1", // cREP
          "0xb3319f5d18bc0d84dd1b4825dcde5d5f7266d407", // cZRX
          "0xc11b1268c1a384e55c48c2391d8d480264a3a7f4", // cWBTC
          "0x95b4ef2869ebd94beb4eee400a99824bf5dc325b", // cMKR
        ],
      },
    ],
  ],
]);
