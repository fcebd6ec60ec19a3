// The token spend of a call, read from its calldata exactly as the policy module reads it.
import type { Hex } from "../../lib/hex.ts";

export type TokenCall = {
  readonly name: "transfer" | "approve" | "transferFrom";
  /** Null where the calldata is cut short of its amount: the contract then sees no spend. */
  readonly spend: { readonly amount: bigint; readonly parties: readonly Hex[] } | null;
};

const NAMES: Readonly<Record<string, { name: TokenCall["name"]; words: number }>> = {
  "0xa9059cbb": { name: "transfer", words: 2 },
  "0x095ea7b3": { name: "approve", words: 2 },
  "0x23b872dd": { name: "transferFrom", words: 3 },
};

/** The first four bytes; null where there are fewer. */
export function readSelector(data: Hex): Hex | null {
  return data.length < 10 ? null : (data.slice(0, 10) as Hex);
}

/** The first four bytes; missing ones are zero, as a PolicyAccount reads them. */
export function readPaddedSelector(data: Hex): Hex {
  return data.slice(0, 10).padEnd(10, "0") as Hex;
}

/** Null when the call is not one of the three that spend. The amount is the last argument of each. */
export function readTokenCall(data: Hex): TokenCall | null {
  const known = NAMES[readSelector(data) ?? ""];
  if (!known) return null;
  const { name, words } = known;
  if (data.length < 10 + words * 64) return { name, spend: null };
  const word = (index: number) => data.slice(10 + index * 64, 10 + (index + 1) * 64);
  const parties = Array.from({ length: words - 1 }, (_, index) => `0x${word(index).slice(24)}` as const);
  return { name, spend: { amount: BigInt(`0x${word(words - 1)}`), parties } };
}
