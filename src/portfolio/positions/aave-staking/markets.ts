// Aave's stake tokens by chain id, from @aave-dao/aave-address-book 4.68.1; the test compares them.
import type { Hex } from "../../../lib/hex.ts";

export type AaveStakeToken = {
  readonly name: string;
  readonly token: Hex;
  /**
   * The Safety Module's stake tokens have functions of their own. Umbrella's are ERC-4626 vaults: of a token, or of
   * another vault, Aave's wrapped deposits.
   */
  readonly kind: "safety-module" | "vault" | "vault-of-vault";
};

export const AAVE_STAKE_TOKENS: ReadonlyMap<number, readonly AaveStakeToken[]> = new Map([
  [
    1,
    [
      { name: "stkAAVE", token: "0x4da27a545c0c5b758a6ba100e3a049001de870f5", kind: "safety-module" },
      { name: "stkGHO", token: "0x1a88df1cfe15af22b3c4c783d4e6f7f9e0c1885d", kind: "safety-module" },
      { name: "stkABPT", token: "0xa1116930326d21fb917d5a27f1e9943a9595fb47", kind: "safety-module" },
      {
        name: "stkAAVEwstETHBPTv2",
        token: "0x9eda81c21c273a82be9bbc19b6a6182212068101",
        kind: "safety-module",
      },
      { name: "Umbrella USDC", token: "0x6bf183243fdd1e306ad2c4450bc7dcf6f0bf8aa6", kind: "vault-of-vault" },
      { name: "Umbrella USDT", token: "0xa484ab92fe32b143aee7019fc1502b1daa522d31", kind: "vault-of-vault" },
      { name: "Umbrella WETH", token: "0xaafd07d53a7365d3e9fb6f3a3b09ec19676b73ce", kind: "vault-of-vault" },
      { name: "Umbrella GHO", token: "0x4f827a63755855cdf3e8f3bcd20265c833f15033", kind: "vault" },
    ],
  ],
]);
