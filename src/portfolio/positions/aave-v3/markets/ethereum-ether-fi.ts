// Aave v3 Ethereum EtherFi, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveEthereumEtherFi: AaveMarket = {
  name: "Aave v3 Ethereum EtherFi",
  pool: "0x0aa97c284e98396202b6a04024f5e2c65026f3c0",
  oracle: "0x43b64f28a678944e0655404b0b98e443851cc34f",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee", aToken: "0xbe1f842e7e0afd2c2322aae5d34ba899544b29db", debtToken: "0x16264412cb72f0d16a446f7d928dd0d822810048" }, // weETH
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0x7380c583cde4409eff5dd3320d93a45d96b80e2e", debtToken: "0x9355032d747f1e08f8720cd01950e652ee15cdb7" }, // USDC
    { underlying: "0x6c3ea9036406852006290770bedfcaba0e23a0e8", aToken: "0xdf7f48892244c6106ea784609f7de10ab36f9c7e", debtToken: "0xd2cf07dee40d3d530d15b88d689f5cd97a31fc3d" }, // PYUSD
    { underlying: "0x853d955acef822db058eb8505911ed77f175b99e", aToken: "0x6914eccf50837dc61b43ee478a9bd9b439648956", debtToken: "0xfd3ada5aabdc6531c7c2ac46c00ebf870f5a0e6b" }, // FRAX
  ],
};
