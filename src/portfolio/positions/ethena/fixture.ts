// A wallet with USDe in cooldown on Ethereum, with a result in the shape of Ethena's contract.
import type { Hex } from "../../../lib/hex.ts";
import { fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const USDE = fixtureToken("0x4c9edd5852cd905f086c759e8383e09bff1e68b3", "USDe", 18, "USDe");
export const STAKED_USDE: Hex = "0x9d39a5de30e57443bff2a8307a4256c8797a3497";
export const COOLDOWNS_FUNCTION = "cooldowns(address) view returns (uint104, uint152)";
export const COOLDOWN_AMOUNT = 12_345_678901234567890123n;

export const ethenaChainConfig = fixtureChainConfig(1, "Ethereum", [USDE]);
