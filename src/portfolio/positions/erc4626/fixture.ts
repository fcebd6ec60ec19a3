// A wallet with shares of a listed vault, written by hand: the tests change its results into those of dishonest vaults.
import type { Hex } from "../../../lib/hex.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const DAI = fixtureToken("0x6b175474e89094c44da98b954eedeac495271d0f", "DAI", 18, "Dai Stablecoin");
export const SAVINGS_DAI = fixtureToken(
  "0x83f20f44975d03b1b09e64809b757c47f942beea",
  "sDAI",
  18,
  "Savings Dai",
);
export const VAULT_WETH = fixtureToken(
  "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  "WETH",
  18,
  "Wrapped Ether",
);
export const UNLISTED_VAULT: Hex = "0x00000000000000000000000000000000000bad00";

export const vaultChainConfig = fixtureChainConfig(1, "Ethereum", [DAI, SAVINGS_DAI, VAULT_WETH]);

export const VAULT_SHARES = 12_345_678901234567890123n;
export const VAULT_ASSETS = 14_198_765432109876543210n;

export const ASSET_FUNCTION = "asset() view returns (address)";
export const CONVERT_TO_ASSETS_FUNCTION = "convertToAssets(uint256) view returns (uint256)";
export const TOTAL_SUPPLY_FUNCTION = "totalSupply() view returns (uint256)";

/** On Ethereum. */
export const EULER_CONNECTOR: Hex = "0x0c9a3dd6b8f28529d72d7f9ce918d493519ee383";
/** The wallet never borrowed there. */
export const noLoansCall = {
  to: EULER_CONNECTOR,
  function: "getAccountOwner(address) view returns (address)",
  args: [FIXTURE_WALLET],
  result: `0x${"0".repeat(40)}`,
};

export const erc4626Calls = [
  { to: SAVINGS_DAI.contract, function: ASSET_FUNCTION, args: [], result: DAI.contract },
  {
    to: SAVINGS_DAI.contract,
    function: CONVERT_TO_ASSETS_FUNCTION,
    args: [VAULT_SHARES],
    result: VAULT_ASSETS,
  },
  { to: DAI.contract, function: TOTAL_SUPPLY_FUNCTION, args: [], result: 3_200_000_000_000000000000000000n },
];
