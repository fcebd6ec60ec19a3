// A wallet with stkAAVE after a slashing, and with USDC in Umbrella, written by hand.
import type { Hex } from "../../../lib/hex.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const AAVE = fixtureToken("0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9", "AAVE", 18, "Aave Token");
export const USDC = fixtureToken("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC", 6, "USD Coin");
export const STK_AAVE: Hex = "0x4da27a545c0c5b758a6ba100e3a049001de870f5";
export const UMBRELLA_USDC: Hex = "0x6bf183243fdd1e306ad2c4450bc7dcf6f0bf8aa6";
const WRAPPED_USDC: Hex = "0xd4fa2d31b7968e448877f69a96de69f5de8cd23e";

export const stakingChainConfig = fixtureChainConfig(1, "Ethereum", [AAVE, USDC]);

const BALANCE = "balanceOf(address) view returns (uint256)";
const ASSET = "asset() view returns (address)";
const CONVERT = "convertToAssets(uint256) view returns (uint256)";

export const stakingCalls = [
  { to: STK_AAVE, function: BALANCE, args: [FIXTURE_WALLET], result: 10n * 10n ** 18n },
  { to: UMBRELLA_USDC, function: BALANCE, args: [FIXTURE_WALLET], result: 1_000_000000n },
  { to: STK_AAVE, function: "STAKED_TOKEN() view returns (address)", args: [], result: AAVE.contract },
  {
    ...{ to: STK_AAVE, function: "previewRedeem(uint256) view returns (uint256)" },
    ...{ args: [10n * 10n ** 18n], result: 7n * 10n ** 18n },
  },
  { to: UMBRELLA_USDC, function: ASSET, args: [], result: WRAPPED_USDC },
  { to: UMBRELLA_USDC, function: CONVERT, args: [1_000_000000n], result: 990_000000n },
  { to: WRAPPED_USDC, function: ASSET, args: [], result: USDC.contract },
  { to: WRAPPED_USDC, function: CONVERT, args: [990_000000n], result: 1_138_500000n },
];
