// Positions that have no value give way to their receipt tokens where those have one: nothing is lost or counted twice.
import type { Hex } from "../../lib/hex.ts";
import { spamReasons } from "../tokens/spam.ts";
import { assetKey, type FoundPosition, type Holding } from "../types.ts";
import type { ChainParts } from "./snapshot-data.ts";
import { valueAsset } from "./value-asset.ts";

type SettledPositions = {
  readonly standing: readonly FoundPosition[];
  /** Shown as their receipt tokens instead. */
  readonly yielding: readonly FoundPosition[];
};

/** Each position that holds something, as itself or as the tokens it stands for. */
export function settlePositions(parts: ChainParts): SettledPositions {
  const held = heldTokens(parts);
  const counts = (receipt: Hex) => {
    const holding = held.get(receipt);
    return (
      holding !== undefined &&
      hasValue(holding, parts) &&
      spamReasons(holding, { chain: parts.chain, unpriced: false }).length === 0
    );
  };
  const yielding = new Set(
    groupsInDoubt(parts)
      .filter((group) => receiptsOf(group).every(counts))
      .flat(),
  );
  const found = parts.positions.filter((position) => amountsIn(position).length > 0);
  return {
    standing: found.filter((position) => !yielding.has(position)),
    yielding: found.filter((position) => yielding.has(position)),
  };
}

/** Receipt tokens still without a price that would let a position without a value give way. */
export function receiptsInDoubt(parts: ChainParts): readonly Holding[] {
  const held = heldTokens(parts);
  return receiptsOf(groupsInDoubt(parts).flat()).flatMap((receipt) => {
    const holding = held.get(receipt);
    return holding === undefined || parts.prices.has(receipt) ? [] : [holding];
  });
}

/**
 * Positions that share a receipt token stand or give way together. A debt never gives way: its token would count as
 * something owned. Nor does a position of which a receipt token is not among the holdings: it would be lost.
 */
function groupsInDoubt(parts: ChainParts): readonly (readonly FoundPosition[])[] {
  const held = heldTokens(parts);
  return groupsByReceipt(parts.positions.filter((position) => amountsIn(position).length > 0)).filter(
    (group) =>
      group.some((position) => !amountsIn(position).every((asset) => hasValue(asset, parts))) &&
      group.every(({ kind }) => kind !== "borrowed") &&
      receiptsOf(group).every((receipt) => held.has(receipt)),
  );
}

/** Positions without a receipt token are in no group. */
function groupsByReceipt(positions: readonly FoundPosition[]): readonly (readonly FoundPosition[])[] {
  const groupOf = new Map<Hex, readonly FoundPosition[]>();
  for (const position of positions) {
    const joined = new Set(position.replaces.map((receipt) => groupOf.get(receipt) ?? []));
    const group = [...[...joined].flat(), position];
    for (const receipt of receiptsOf(group)) groupOf.set(receipt, group);
  }
  return [...new Set(groupOf.values())];
}

function receiptsOf(positions: readonly FoundPosition[]): readonly Hex[] {
  return [...new Set(positions.flatMap(({ replaces }) => replaces))];
}

function heldTokens({ holdings }: ChainParts): ReadonlyMap<Hex | null, Holding> {
  return new Map(
    holdings.filter(({ rawBalance }) => rawBalance > 0n).map((holding) => [holding.contract, holding]),
  );
}

function amountsIn({ assets }: FoundPosition): readonly Holding[] {
  return assets.filter(({ rawBalance }) => rawBalance > 0n);
}

function hasValue(holding: Holding, { prices }: ChainParts): boolean {
  return valueAsset(holding, prices.get(assetKey(holding))?.price ?? null).value !== null;
}
