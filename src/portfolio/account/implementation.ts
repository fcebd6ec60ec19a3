// The code that a proxy runs, as ERC-1967 stores it in the account itself.
import { wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import type { WalletQuery } from "../types.ts";

const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn;

/** Null if none is set. */
export async function readImplementation(
  { at, wallet }: WalletQuery,
  signal: AbortSignal,
): Promise<Hex | null> {
  return toStoredAddress(await at.storage(wallet, IMPLEMENTATION_SLOT, signal));
}

/** A call uses the last 20 bytes of what is stored, whatever stands before them. */
export function toStoredAddress(word: bigint): Hex | null {
  return wordToAddress(BigInt.asUintN(160, word));
}
