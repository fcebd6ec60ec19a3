// Liquidity of two tokens: what all versions of Uniswap and its forks share.
import type { Hex } from "../../lib/hex.ts";
import type { Holding } from "../types.ts";
import { type Assets, toHolding } from "./asset-metadata.ts";
import type { PositionRead } from "./position-read.ts";

export type PairAmounts = { readonly amount0: bigint; readonly amount1: bigint };

/** The amounts that are not zero, in the order of the tokens; null is the native coin. */
export function toPairHoldings(
  assets: Assets,
  tokens: readonly [Hex | null, Hex],
  { amount0, amount1 }: PairAmounts,
): readonly Holding[] {
  const both = [toHolding(assets, tokens[0], amount0), toHolding(assets, tokens[1], amount1)];
  return both.filter(({ rawBalance }) => rawBalance > 0n);
}

/**
 * Beyond the limit, liquidity with a listed token comes first: anyone may send the wallet liquidity of worthless tokens,
 * which must not push the rest out.
 */
export function selectListedFirst<T extends { readonly token0: Hex; readonly token1: Hex }>(
  run: PositionRead,
  found: readonly T[],
  max: number,
  what: string,
): readonly T[] {
  if (found.length <= max) return found;
  run.warn(
    `Only ${max} of ${found.length} ${what} on ${run.chain} are shown, those with a listed token first.`,
  );
  const { tokens } = run.at.chain;
  const hasListed = ({ token0, token1 }: T) => tokens.has(token0) || tokens.has(token1);
  return [...found.filter(hasListed), ...found.filter((each) => !hasListed(each))].slice(0, max);
}

/** A pool's fee for people: millionths as an exact percentage. */
export function formatFee(fee: number): string {
  const digits = fee.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "");
}
