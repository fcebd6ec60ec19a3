// Aave v3 Ethereum Lido, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveEthereumLido: AaveMarket = {
  name: "Aave v3 Ethereum Lido",
  pool: "0x4e033931ad43597d96d6bcc25c280717730b58b1",
  oracle: "0xe3c061981870c0c7b1f3c4f4bb36b95f1f260be6",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0", aToken: "0xc035a7cf15375ce2706766804551791ad035e0c2", debtToken: "0xe439edd2625772aa635b437c099c607b6eb7d35f" }, // wstETH
    { underlying: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", aToken: "0xfa1fdbbd71b0aa16162d76914d69cd8cb3ef92da", debtToken: "0x91b7d78bf92db564221f6b5aee744d1727d1dd1e" }, // WETH
    { underlying: "0xdc035d45d973e3ec169d2276ddab16f1e407384f", aToken: "0x09aa30b182488f769a9824f15e6ce58591da4781", debtToken: "0x2d9fe18b6c35fe439cc15d932cc5c943bf2d901e" }, // USDS
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0x2a1fbcb52ed4d9b23dad17e1e8aed4bb0e6079b8", debtToken: "0xed90de2d824ee766c6fd22e90b12e598f681dc9f" }, // USDC
    { underlying: "0xbf5495efe5db9ce00f80364c8b423567e58d2110", aToken: "0x74e5664394998f13b07af42446380acef637969f", debtToken: "0x08e1bba76d27841dd91fab4b3a636a0d5cf8c3e9" }, // ezETH
    { underlying: "0x9d39a5de30e57443bff2a8307a4256c8797a3497", aToken: "0xc2015641564a5914a17cb9a92ec8d8fecfa8f2d0", debtToken: "0x2abbaab3ef4e4a899d39e7ec996b5715e76b399a" }, // sUSDe
    { underlying: "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f", aToken: "0x18efe565a5373f430e2f809b97de30335b3ad96a", debtToken: "0x18577f0f4a0b2ee6f4048db51c7acd8699f97db8" }, // GHO
    { underlying: "0xa1290d69c65a6fe4df752f95823fae25cb99e5a7", aToken: "0x56d919e7b25aa42f3f8a4bc77b8982048f2e84b4", debtToken: "0x2c2163f120cf58631368981bc16e90190bc6c644" }, // rsETH
    { underlying: "0xd11c452fc99cf405034ee446803b6f6c1f6d5ed8", aToken: "0xce8c60fd8390efcc3fc66a3f0bd64beb969e750e", debtToken: "0xe7ea6125490ae4594ad9b44d05dff9f2a4343134" }, // tETH
  ],
};
