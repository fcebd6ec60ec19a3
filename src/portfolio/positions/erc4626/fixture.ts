// A wallet with shares of a listed vault beside other listed tokens: answers in the shape of ERC-4626.
import type { Hex } from "../../../lib/hex.ts";
import { chainBook, listed } from "../fixture-chain.ts";

export const DAI = listed("0x6b175474e89094c44da98b954eedeac495271d0f", "DAI", 18, "Dai Stablecoin");
export const SAVINGS_DAI = listed("0x83f20f44975d03b1b09e64809b757c47f942beea", "sDAI", 18, "Savings Dai");
export const WETH = listed("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "WETH", 18, "Wrapped Ether");
export const UNLISTED: Hex = "0x00000000000000000000000000000000000bad00";

export const vaultBook = chainBook(1, "Ethereum", [DAI, SAVINGS_DAI, WETH]);

export const SHARES = 12_345_678901234567890123n;
export const ASSETS = 14_198_765432109876543210n;

export const ASSET = "asset() view returns (address)";
export const CONVERT = "convertToAssets(uint256) view returns (uint256)";
export const SUPPLY = "totalSupply() view returns (uint256)";

export const vaultCalls = [
  { to: SAVINGS_DAI.contract, function: ASSET, args: [], result: DAI.contract },
  { to: SAVINGS_DAI.contract, function: CONVERT, args: [SHARES], result: ASSETS },
  { to: DAI.contract, function: SUPPLY, args: [], result: 3_200_000_000_000000000000000000n },
];
