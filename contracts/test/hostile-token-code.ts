// Tokens of every kind, from honest to hostile, as runtime code that a test places at any address.
import { type Hex, numberToHex } from "viem";
import { bombTokenRuntimeBytecode } from "../generated/bomb-token.ts";
import { gasBurnerTokenRuntimeBytecode } from "../generated/gas-burner-token.ts";
import { revertingTokenRuntimeBytecode } from "../generated/reverting-token.ts";
import { silentTokenRuntimeBytecode } from "../generated/silent-token.ts";

/** Returns the given number for every call; PUSH32, MSTORE, RETURN. */
export const returningCode = (balance: bigint): Hex =>
  `0x7f${numberToHex(balance, { size: 32 }).slice(2)}5f5260205ff3`;

/** Returns the number and a word more: every Solidity caller reads the number and ignores the rest. */
export const paddedReturningCode = (balance: bigint): Hex =>
  `0x7f${numberToHex(balance, { size: 32 }).slice(2)}5f5260405ff3`;

/** Null has no code. None of them gives a balance. */
export const HOSTILE_CODE = {
  reverting: revertingTokenRuntimeBytecode,
  burner: gasBurnerTokenRuntimeBytecode,
  bomb: bombTokenRuntimeBytecode,
  silent: silentTokenRuntimeBytecode,
  // 31 bytes of return data: not a number.
  short: "0x601f5ff3",
  // Loops until its gas is gone.
  loop: "0x5b5f56",
  missing: null,
} as const satisfies Record<string, Hex | null>;

export type HostileToken = keyof typeof HOSTILE_CODE;
export const HOSTILE_TOKENS = Object.keys(HOSTILE_CODE) as HostileToken[];

export function numberedAddress(number: number): Hex {
  return numberToHex(number, { size: 20 });
}
