// A wallet with sUSDS on Base, with results in the shape of the oracle of Sky's savings rate.
import type { Hex } from "../../../lib/hex.ts";
import { fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const SUSDS = fixtureToken("0x5875eee11cf8398102fdad704c9e96607675467a", "sUSDS", 18, "Savings USDS");
export const USDS = fixtureToken("0x820c137fa70c8691f0e44dc420a5e53c168921dc", "USDS", 18, "USDS Stablecoin");
export const SSR_ORACLE: Hex = "0x65d946e533748a998b1f0e430803e39a6388f7a1";
export const SSR_RATE = 1_071_234567890123456789012345n;

/** Without USDS in the lists. */
export const skyChainConfig = fixtureChainConfig(8453, "Base", [SUSDS]);

export const skyCalls = [
  { to: SSR_ORACLE, function: "getConversionRate() view returns (uint256)", args: [], result: SSR_RATE },
  { to: USDS.contract, function: "symbol() view returns (string)", args: [], result: "USDS" },
  { to: USDS.contract, function: "name() view returns (string)", args: [], result: "USDS Stablecoin" },
  { to: USDS.contract, function: "decimals() view returns (uint8)", args: [], result: 18 },
];
